// Follows the log of a running build. Without this script, the page has a link "Refresh".
(() => {
  const log = document.querySelector("[data-follow]");
  if (!log) return;
  const MAX_LINES = 5000;
  const status = document.querySelector("[data-status]");
  let { offset, line, style } = log.dataset;
  let rest = log.querySelector("[data-rest]");
  const isAtEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const next = async () => {
    if (document.hidden) return setTimeout(next, 1000);
    const query = new URLSearchParams({ from: offset, line, style });
    let answer;
    try {
      const response = await fetch(`${log.dataset.follow}?${query}`, { credentials: "same-origin" });
      if (!response.ok) return setTimeout(next, 10000);
      answer = await response.json();
    } catch {
      return setTimeout(next, 5000);
    }
    const follows = isAtEnd();
    rest.innerHTML = "";
    rest.insertAdjacentHTML("beforebegin", answer.html);
    rest.innerHTML = answer.rest;
    const lines = log.querySelectorAll(".ll");
    for (let at = 0; at < lines.length - MAX_LINES; at++) lines[at].remove();
    ({ offset, line, style } = answer);
    if (follows) log.scrollTop = log.scrollHeight;
    // Links, buttons and notes of the page depend on the status.
    if (status && status.textContent.trim() !== answer.status) return location.reload();
    setTimeout(next, 1000);
  };
  log.scrollTop = log.scrollHeight;
  setTimeout(next, 1000);
})();
