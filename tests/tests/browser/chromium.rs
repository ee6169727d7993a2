//! Chromium, driven by the W3C WebDriver protocol.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{ChromeCapabilities, ChromiumLikeCapabilities, LoggingPrefsLogLevel};

/// The time in which an element has to appear.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest wait for the page behind a link or a form. Few of them lead to a place on the same page.
const LOADING: Duration = Duration::from_secs(5);

/// The width of a narrow window in pixels.
pub const NARROW: u64 = 360;

/// Whether pages may run scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scripts {
    On,
    Off,
}

/// A browser window. Chromium ends when it is dropped.
pub struct Window {
    driver: WebDriver,
    base: String,
    process: Child,
}

impl Window {
    /// Opens a browser. `None` if there is no Chromium on this machine.
    pub async fn open(base: &str, scripts: Scripts) -> Result<Option<Self>> {
        Self::open_as(base, capabilities(scripts)?).await
    }

    /// Opens a browser whose pages are 360 pixels wide. Windows of a desktop are wider.
    pub async fn open_narrow(base: &str) -> Result<Option<Self>> {
        let mut wanted = capabilities(Scripts::On)?;
        let screen = json!({ "width": NARROW, "height": 800, "pixelRatio": 1.0, "touch": false });
        wanted.add_experimental_option("mobileEmulation", json!({ "deviceMetrics": screen }))?;
        Self::open_as(base, wanted).await
    }

    async fn open_as(base: &str, wanted: ChromeCapabilities) -> Result<Option<Self>> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).process_group(0);
        let started = command.spawn();
        let Ok(mut process) = started else {
            let required = std::env::var_os("HEXFORGE_REQUIRE_CHROMIUM").is_some();
            ensure!(!required, "chromedriver is missing (Debian: chromium-driver)");
            return Ok(None);
        };
        let output = process.stdout.take().context("chromedriver has an output pipe")?;
        let mut port = None;
        for line in BufReader::new(output).lines() {
            if let Some((_, rest)) = line?.split_once("started successfully on port ") {
                port = Some(rest.trim_end_matches('.').to_owned());
                break;
            }
        }
        let port = port.context("chromedriver ended before it listened")?;
        // The client of the driver needs a TLS library, although it speaks plain HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), wanted).await?;
        Ok(Some(Self { driver, base: base.to_owned(), process }))
    }

    /// Opens an address of the service.
    pub async fn go(&self, address: &str) -> Result<()> {
        self.driver.goto(format!("{}{address}", self.base)).await?;
        Ok(())
    }

    /// The address of the page, without scheme and host.
    pub async fn address(&self) -> Result<String> {
        let url = self.driver.current_url().await?;
        Ok(url.as_str().strip_prefix(&self.base).unwrap_or(url.as_str()).to_owned())
    }

    /// The text of the only heading of the first level.
    pub async fn heading(&self) -> Result<String> {
        Ok(self.find("//h1").await?.text().await?)
    }

    /// Follows a link by its name.
    pub async fn follow(&self, name: &str) -> Result<()> {
        self.leave_by(&format!("//a[normalize-space()={}]", quoted(name))).await
    }

    /// Fills in a field of a form by its label.
    pub async fn fill(&self, form: &str, label: &str, text: &str) -> Result<()> {
        let field = self.field(form, label).await?;
        field.clear().await?;
        field.send_keys(text).await?;
        Ok(())
    }

    /// Chooses an option of a select.
    pub async fn choose(&self, form: &str, label: &str, option: &str) -> Result<()> {
        let select = self.field(form, label).await?;
        let option = By::XPath(format!(".//option[normalize-space()={}]", quoted(option)));
        select.find(option).await?.click().await?;
        Ok(())
    }

    /// Chooses an option of a select that stands outside a named form.
    pub async fn choose_labelled(&self, label: &str, option: &str) -> Result<()> {
        let label = quoted(label);
        let path = format!(
            "//select[@aria-label={label} or @id=//label[normalize-space()={label}]/@for]\
             /option[normalize-space()={}]",
            quoted(option)
        );
        self.find(&path).await?.click().await?;
        Ok(())
    }

    /// Chooses an option of a select by typing its name.
    pub async fn choose_by_keys(&self, label: &str, option: &str) -> Result<()> {
        let label = quoted(label);
        let path = format!("//select[@id=//label[normalize-space()={label}]/@for]");
        self.find(&path).await?.send_keys(option).await?;
        Ok(())
    }

    /// Presses a button with the key Enter.
    pub async fn press_by_keys(&self, button: &str) -> Result<()> {
        let path = format!("//main//button[normalize-space()={}]", quoted(button));
        let button = self.find(&path).await?;
        button.send_keys(Key::Enter + "").await?;
        self.wait_for_another_page(&button).await;
        Ok(())
    }

    /// Types into the element that has the focus.
    pub async fn type_keys(&self, keys: &str) -> Result<()> {
        self.driver.action_chain().send_keys(keys).perform().await?;
        Ok(())
    }

    /// Waits until a script returns this.
    pub async fn waits_for(&self, script: &str, expected: &Value) -> Result<()> {
        let mut seen = Value::Null;
        for _ in 0..PATIENCE.as_millis() / 50 {
            seen = self.run(script, vec![]).await?;
            if seen == *expected {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("{script} returns {seen} instead of {expected} at {}", self.address().await?)
    }

    /// Sets a checkbox or a radio button.
    pub async fn set(&self, form: &str, label: &str) -> Result<()> {
        let field = self.field(form, label).await?;
        if !field.is_selected().await? {
            field.click().await?;
        }
        Ok(())
    }

    /// Presses a button of a form.
    pub async fn press(&self, form: &str, button: &str) -> Result<()> {
        let path = format!("{}//button[normalize-space()={}]", form_path(form), quoted(button));
        self.leave_by(&path).await
    }

    /// Presses a button of any form of the page. A closed disclosure around it is opened first.
    pub async fn press_alone(&self, button: &str) -> Result<()> {
        let path = format!("//main//button[normalize-space()={}]", quoted(button));
        let button = self.present(&path).await?;
        if !button.is_displayed().await? {
            button.find(By::XPath("./ancestor::details/summary")).await?.click().await?;
        }
        button.click().await?;
        self.wait_for_another_page(&button).await;
        Ok(())
    }

    /// Clicks a link or a button that leads to another page.
    pub async fn leave_by(&self, path: &str) -> Result<()> {
        let element = self.find(path).await?;
        element.click().await?;
        self.wait_for_another_page(&element).await;
        Ok(())
    }

    /// Waits until an element is gone with its page. On a busy machine, the driver continues before a form is sent: the
    /// next step would meet the old page, or the answer would replace the page of the next step.
    async fn wait_for_another_page(&self, left: &WebElement) {
        let since = Instant::now();
        while since.elapsed() < LOADING && left.tag_name().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the page has this text.
    pub async fn sees(&self, text: &str) -> Result<()> {
        let path = format!("//body[contains(normalize-space(), {})]", quoted(text));
        self.present(&path).await.with_context(|| format!("no text “{text}”"))?;
        Ok(())
    }

    /// An element that is displayed.
    pub async fn find(&self, path: &str) -> Result<WebElement> {
        let since = Instant::now();
        loop {
            let query = self.driver.query(By::XPath(path.to_owned()));
            let query = query.wait(PATIENCE, Duration::from_millis(50)).and_displayed();
            match query.first().await {
                // Another page was shown while the element was looked at.
                Err(error) if is_stale(&error) && since.elapsed() < PATIENCE => {}
                found => return self.explained(path, found).await,
            }
        }
    }

    async fn present(&self, path: &str) -> Result<WebElement> {
        let query = self.driver.query(By::XPath(path.to_owned()));
        let found = query.wait(PATIENCE, Duration::from_millis(50)).first().await;
        self.explained(path, found).await
    }

    async fn explained(
        &self,
        path: &str,
        found: WebDriverResult<WebElement>,
    ) -> Result<WebElement> {
        match found {
            Ok(element) => Ok(element),
            Err(error) => {
                let (address, source) = (self.address().await?, self.driver.source().await?);
                bail!("no {path} at {address}: {error}\n{source}")
            }
        }
    }

    async fn field(&self, form: &str, label: &str) -> Result<WebElement> {
        let form = form_path(form);
        let label = quoted(label);
        self.find(&format!("{form}//*[@id={form}//label[normalize-space()={label}]/@for]")).await
    }

    /// Runs a script in the page, as a developer would in the console.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Result<Value> {
        Ok(self.driver.execute(script, arguments).await?.json().clone())
    }

    /// Runs a script that calls its last argument with the result.
    pub async fn run_async(&self, script: &str) -> Result<Value> {
        Ok(self.driver.execute_async(script, vec![]).await?.json().clone())
    }

    /// Drags one element onto another.
    pub async fn drag(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.find(from).await?, self.find(to).await?);
        from.js_drag_to(&to).await?;
        Ok(())
    }

    /// Stores a picture of the page, if `HEXFORGE_SCREENSHOTS` names a folder.
    pub async fn picture(&self, name: &str) -> Result<()> {
        if let Some(folder) = std::env::var_os("HEXFORGE_SCREENSHOTS") {
            let file = std::path::Path::new(&folder).join(format!("{name}.png"));
            self.driver.screenshot(&file).await?;
        }
        Ok(())
    }

    /// Fails if the console has an error: a failed request, a script that threw, or a violation of the policy.
    pub async fn complains_about_nothing(&self) -> Result<()> {
        let complaints: Vec<String> = self
            .driver
            .browser_log()
            .await?
            .into_iter()
            .filter(|entry| matches!(entry.level.as_str(), "SEVERE" | "WARNING"))
            .map(|entry| entry.message)
            .collect();
        ensure!(complaints.is_empty(), "the console says: {complaints:#?}");
        Ok(())
    }

    /// Closes the browser.
    pub async fn close(self) -> Result<()> {
        self.complains_about_nothing().await?;
        self.driver.clone().quit().await?;
        Ok(())
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The driver and the browsers that it started are one process group.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.process.wait();
    }
}

fn is_stale(error: &WebDriverError) -> bool {
    error.to_string().contains("stale")
}

fn capabilities(scripts: Scripts) -> Result<ChromeCapabilities> {
    let mut wanted = DesiredCapabilities::chrome();
    for argument in [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1200,900",
        // Tests may run as root, and in containers without user namespaces.
        "--no-sandbox",
    ] {
        wanted.add_arg(argument)?;
    }
    if scripts == Scripts::Off {
        let off = json!({ "profile.managed_default_content_settings.javascript": 2 });
        wanted.add_experimental_option("prefs", off)?;
    }
    wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    Ok(wanted)
}

fn form_path(name: &str) -> String {
    format!("//form[@aria-label={}]", quoted(name))
}

/// A text as XPath writes it.
fn quoted(text: &str) -> String {
    if text.contains('\'') { format!("\"{text}\"") } else { format!("'{text}'") }
}
