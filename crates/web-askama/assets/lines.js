"use strict";
// Marks a range of lines such as #L3-7. The stylesheet marks single lines. A click with Shift on a number makes a range.
(() => {
  const mark = () => {
    for (const row of document.querySelectorAll("tr.marked")) row.classList.remove("marked");
    const range = /^#L(\d+)-L?(\d+)$/.exec(location.hash);
    if (!range) return;
    const [first, last] = [Number(range[1]), Number(range[2])].sort((a, b) => a - b);
    for (let number = first; number <= last; number++) {
      const row = document.getElementById("L" + number);
      if (!row) break;
      row.classList.add("marked");
    }
    document.getElementById("L" + first)?.scrollIntoView({ block: "center" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("td.number a");
    const from = /^#L(\d+)/.exec(location.hash);
    if (!link || !event.shiftKey || !from) return;
    event.preventDefault();
    const [first, last] = [Number(from[1]), Number(link.textContent)].sort((a, b) => a - b);
    location.hash = first === last ? `#L${first}` : `#L${first}-${last}`;
  });
  addEventListener("hashchange", mark);
  mark();
})();
