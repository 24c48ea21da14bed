// Finds runs and rows by words and verdict, and sorts tables by column. Without this script all of them are shown, in order.
"use strict";
(() => {
  const GRAVEST_FIRST = ["Deviates", "Broken", "Inconclusive", "Harness error", "Broken, as predicted", "Lost, as settings allow", "Conforms", "Kept", "No promise", "Not judged", "Not run"];
  const FEWEST = 6; // things that are worth a search
  const DIRECTIONS = ["none", "ascending", "descending"];

  const element = (name, attributes, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const wordsOf = (text) => text.trim().replace(/\s+/g, " ");

  // Which verdicts stand in an element? By their words, or by their shapes where there is no room for words.
  const shapeOf = (drawn) => drawn.getAttribute("href");
  const byShape = new Map();
  const wordOf = (shape) => {
    if (!byShape.size) document.querySelectorAll(".verdict").forEach((one) => byShape.set(shapeOf(one.querySelector("use")), wordsOf(one.textContent)));
    return byShape.get(shape);
  };
  const verdictsIn = (part) => {
    const told = [...part.querySelectorAll(".verdict .word")].map((word) => wordsOf(word.textContent));
    return told.length ? told : [...part.querySelectorAll(".shape use")].map((drawn) => wordOf(shapeOf(drawn)));
  };
  const gravity = (word) => (GRAVEST_FIRST.indexOf(word) + 1 || GRAVEST_FIRST.length + 1) - 1;

  // A search over what a box says it holds (data-finds), in groups that vanish with their last member (data-groups).
  const search = (box) => {
    const items = [...box.querySelectorAll(box.dataset.finds)];
    if (items.length < FEWEST) return null;
    const heads = "columns" in box.dataset ? [...box.tHead.rows[0].cells].slice(1).map((head) => wordsOf(head.textContent).toLowerCase()) : [];
    const headOf = (item) => (item.cells ? item.cells[0] : (item.matches("details") && item.querySelector("summary")) || item);
    const subjects = new Map();
    const partsOf = (item, columns) => (heads.length ? [...item.cells].slice(1).filter((_, at) => columns[at]) : [headOf(item)]);
    const verdictsOf = (item, columns) => partsOf(item, columns).flatMap(verdictsIn);
    const groups = box.dataset.groups ? [...box.querySelectorAll(box.dataset.groups)] : [];
    const wasOpen = new Map();
    const membersOf = (group) => {
      if (!group.matches("tr")) return items.filter((item) => group.contains(item));
      const following = groups[groups.indexOf(group) + 1];
      const isBelow = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
      return items.filter((item) => isBelow(group, item) && !(following && isBelow(following, item)));
    };

    const everywhere = heads.map(() => true);
    const sought = element("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: box.dataset.hint });
    const chosen = element("select", {}, element("option", { value: "" }, "any"));
    const count = element("span", { role: "status", class: "found" });
    const tools = element("div", { class: "tools", role: "search", "aria-label": `Find ${box.dataset.noun}` },
      element("label", {}, "Find ", sought), element("label", {}, "Verdict ", chosen), count);

    // A page of thousands of runs opens before anybody has read them: that is done when the search is entered.
    const prepare = () => {
      if (subjects.size) return;
      for (const item of items) subjects.set(item, wordsOf(`${item.dataset.of || ""} ${headOf(item).textContent}`).toLowerCase());
      const verdicts = [...new Set(items.flatMap((item) => verdictsOf(item, everywhere)))];
      chosen.append(...verdicts.sort((one, other) => gravity(one) - gravity(other)).map((word) => element("option", {}, word)));
    };
    const isFound = (item, words, columns, isNarrowed) => {
      if (!words.every((word) => subjects.get(item).includes(word))) return false;
      const has = isNarrowed || chosen.value ? verdictsOf(item, columns) : [];
      return (!isNarrowed || has.length > 0) && (!chosen.value || has.includes(chosen.value));
    };
    const showColumns = (columns) => {
      for (const row of heads.length ? box.rows : []) {
        if (row.cells.length === heads.length + 1) columns.forEach((isShown, at) => { row.cells[at + 1].hidden = !isShown; });
      }
    };
    const update = () => {
      prepare();
      const words = sought.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
      const names = (head, word) => head.split(/[ ,]+/).some((part) => part.startsWith(word) && !/^[0-9]/.test(part.slice(word.length)));
      const ofColumns = words.filter((word) => heads.some((head) => names(head, word)));
      const releases = ofColumns.filter((word) => /^[0-9]/.test(word)), modes = ofColumns.filter((word) => !/^[0-9]/.test(word));
      const columns = heads.map((head) => modes.every((word) => names(head, word)) &&
        (!releases.length || releases.some((word) => names(head, word))));
      const ofItems = words.filter((word) => !ofColumns.includes(word));
      for (const item of items) item.hidden = !isFound(item, ofItems, columns, ofColumns.length > 0);
      showColumns(columns);
      const isSearching = words.length > 0 || chosen.value !== "";
      for (const group of groups) {
        group.hidden = membersOf(group).every((item) => item.hidden);
        if (!group.matches("details")) continue;
        if (isSearching && !wasOpen.has(group)) wasOpen.set(group, group.open);
        if (wasOpen.has(group)) group.open = isSearching || wasOpen.get(group);
        if (!isSearching) wasOpen.delete(group);
      }
      count.textContent = `${items.filter((item) => !item.hidden).length} of ${items.length} ${box.dataset.noun}`;
    };
    const clear = () => {
      sought.value = chosen.value = "";
      update();
    };
    tools.addEventListener("pointerenter", prepare);
    tools.addEventListener("focusin", prepare);
    sought.addEventListener("input", update);
    chosen.addEventListener("change", update);
    count.textContent = `${items.length} of ${items.length} ${box.dataset.noun}`;
    (box.closest(".scroll") || box).before(tools);
    return { clear };
  };

  // A table that is sorted by the column whose head is pressed: up, down, as it was; within each of its groups of rows.
  const valueOf = (cell, isOfVerdicts) => {
    const verdicts = verdictsIn(cell);
    if (isOfVerdicts) return verdicts.length ? String(Math.min(...verdicts.map(gravity))) : null;
    const text = (cell.dataset.sort || wordsOf(cell.textContent)).replace(/(\d),(?=\d{3})/g, "$1");
    return /^[—–]?$/.test(text) ? null : text;
  };
  const before = (one, other, turn) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return turn * one.localeCompare(other, "en", { numeric: true });
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const full = original.filter((row) => row.cells.length === heads.length);
    const keysOf = (at) => {
      const isOfVerdicts = full.some((row) => verdictsIn(row.cells[at]).length > 0);
      return new Map(full.map((row) => [row, valueOf(row.cells[at], isOfVerdicts)]));
    };
    const sort = (at, direction) => {
      const turn = direction === "descending" ? -1 : 1;
      const keys = keysOf(at);
      const keyed = (row) => ({ row, key: keys.get(row) });
      const pieces = [[]];
      for (const one of original.map(keyed)) {
        if (one.key === undefined) pieces.push([one], []);
        else pieces.at(-1).push(one);
      }
      if (direction !== "none") pieces.forEach((piece) => piece.sort((one, other) => before(one.key, other.key, turn)));
      body.append(...pieces.flat().map((one) => one.row));
    };
    heads.forEach((head, at) => {
      const isAlike = (row) => row.cells[at].textContent === full[0].cells[at].textContent && !row.cells[at].querySelector("use");
      if (full.every(isAlike)) return;
      const button = element("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const direction = DIRECTIONS[(DIRECTIONS.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
        heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", other === head ? direction : "none"));
        sort(at, direction);
      });
    });
  };

  const searches = [...document.querySelectorAll("[data-finds]")].map(search).filter(Boolean);
  document.querySelectorAll("table[data-sorts]").forEach(sortable);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const target = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (target && target.closest("[hidden]")) searches.forEach((one) => one.clear());
  });
})();
