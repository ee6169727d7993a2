"use strict";
// Moves a card of the board by dragging: chooses the list in the form of the card, and sends the form.
(() => {
  const board = document.querySelector(".board");
  if (!board) return;
  let card = null;
  board.addEventListener("dragstart", (event) => {
    card = event.target.closest("li[data-iid][draggable=true]");
    if (!card) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "#" + card.dataset.iid);
  });
  board.addEventListener("dragend", () => { card = null; });
  board.addEventListener("dragover", (event) => {
    if (card && event.target.closest("section[data-list]")) event.preventDefault();
  });
  board.addEventListener("drop", (event) => {
    const list = event.target.closest("section[data-list]");
    if (!card || !list) return;
    event.preventDefault();
    const form = card.querySelector("form");
    if (!form || form.elements.from.value === list.dataset.list) return;
    form.elements.to.value = list.dataset.list;
    form.submit();
  });
})();
