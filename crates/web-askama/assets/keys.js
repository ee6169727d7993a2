"use strict";
// Keyboard shortcuts, as /help/shortcuts lists them. They press links and focus fields that the page has.
(() => {
  const FIELDS = "input, select, textarea, [contenteditable]";
  const ITEMS = "main .list > li, main .files tbody tr, main table.table tbody tr, main .notes > li";
  const press = (selector) => document.querySelector(selector)?.click();
  const focus = (field) => {
    if (!field) return;
    field.focus();
    field.scrollIntoView({ block: "nearest" });
  };
  // Moves the focus from the item that has it to the next or the previous one. Without such an item, to the first one.
  const move = (items, step, inside) => {
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const item = items[at < 0 ? 0 : at + step];
    const target = item && (inside ? item.querySelector(inside) : item);
    if (!target) return;
    if (!inside) target.tabIndex = -1;
    target.focus({ preventScroll: true });
    item.scrollIntoView({ block: inside ? "nearest" : "start" });
  };
  const files = (step) => move([...document.querySelectorAll("main section.diff")], step);
  const list = (step) => {
    const items = [...document.querySelectorAll(ITEMS)].filter((item) => item.querySelector("a[href]"));
    move(items, step, "a[href]");
  };
  const search = () => focus(document.querySelector("search input"));
  const actions = {
    "/": search,
    s: search,
    "?": () => location.assign("/help/shortcuts"),
    t: () => press("a[data-key=t]"),
    y: () => {
      const link = document.querySelector("a[data-key=y]");
      if (link) location.assign(link.href + location.hash);
    },
    j: () => files(1),
    k: () => files(-1),
    n: () => list(1),
    p: () => list(-1),
    e: () => press("a[data-key=e]"),
    r: () => focus(document.querySelector("form[aria-label='Add a comment'] textarea")),
  };
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!Object.hasOwn(actions, key) || (target instanceof Element && target.closest(FIELDS))) return;
    // The key is not typed into the field that gets the focus.
    event.preventDefault();
    actions[key]();
  });
})();
