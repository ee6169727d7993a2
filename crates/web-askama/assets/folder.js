// Adds the last commits of a folder that were not found in time. Without this script, their cells stay empty.
(() => {
  const table = document.querySelector("table[data-logs]");
  if (!table) return;
  const rows = new Map([...table.tBodies[0].rows].map((row) => [row.dataset.name, row]));
  let tries = 0;
  const ask = async () => {
    let answer;
    try {
      const response = await fetch(table.dataset.logs, { credentials: "same-origin" });
      if (!response.ok) return;
      answer = await response.json();
    } catch {
      return;
    }
    for (const commit of answer.commits) {
      const row = rows.get(commit.name);
      if (!row || row.cells[1].firstChild) continue;
      const link = document.createElement("a");
      link.href = commit.address;
      link.textContent = commit.title;
      row.cells[1].append(link);
      const time = document.createElement("time");
      time.dateTime = commit.datetime;
      time.title = commit.exact;
      time.textContent = commit.time;
      row.cells[2].append(time);
    }
    tries += 1;
    if (!answer.is_complete && tries < 20) setTimeout(ask, 500 * tries);
  };
  ask();
})();
