// Shows the stills of a run one at a time. They all stand in the page: without this script one below the other.
"use strict";
(() => {
  const element = (name, attributes, words = "") => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = words;
    return made;
  };

  const begin = (film) => {
    const stills = [...film.querySelectorAll("tbody")];
    const bar = element("div", { class: "player", role: "group", "aria-label": "Player" });
    const back = element("button", { type: "button" }, "◀ Previous");
    const next = element("button", { type: "button" }, "Next ▶");
    const all = element("button", { type: "button" }, "Show all");
    const told = element("span", { "aria-live": "polite" });
    let at = 0;

    const show = (to) => {
      at = Math.min(Math.max(to, 0), stills.length - 1);
      stills.forEach((still, index) => still.classList.toggle("now", index === at));
      back.setAttribute("aria-disabled", at === 0);
      next.setAttribute("aria-disabled", at === stills.length - 1);
      const sentence = stills[at].querySelector("p").textContent;
      told.replaceChildren(element("span", { class: "count" }, `${at + 1} of ${stills.length}`), element("span", { class: "unseen" }, `: ${sentence}`));
    };
    const play = (plays) => {
      film.classList.toggle("plays", plays);
      all.setAttribute("aria-pressed", !plays);
    };
    const step = (by) => {
      play(true);
      show(at + by);
    };
    const keys = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => step(-stills.length), End: () => step(stills.length) };

    back.addEventListener("click", () => step(-1));
    next.addEventListener("click", () => step(1));
    all.addEventListener("click", () => play(!film.classList.contains("plays")));
    film.addEventListener("keydown", (pressed) => {
      const scrolls = pressed.target.scrollWidth > pressed.target.clientWidth && pressed.target.matches(".scroll");
      if (!(pressed.key in keys) || scrolls || pressed.ctrlKey || pressed.altKey || pressed.metaKey || pressed.shiftKey) return;
      pressed.preventDefault();
      keys[pressed.key]();
    });
    bar.append(back, told, next, all);
    film.querySelector("summary").after(bar);
    play(true);
    show(0);
  };

  const begun = new WeakSet();
  const beginOnce = (film) => {
    if (film.open && !begun.has(film)) {
      begun.add(film);
      begin(film);
    }
  };
  document.addEventListener("toggle", (event) => event.target.matches("details.stills") && beginOnce(event.target), true);
  document.querySelectorAll("details.stills[open]").forEach(beginOnce);
})();
