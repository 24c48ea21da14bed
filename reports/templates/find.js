const form = document.querySelector("form.search"), field = form.querySelector("input"), told = form.querySelector("output");
const items = [...document.querySelectorAll("[data-words]")], areas = [...document.querySelectorAll(".area")];
function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of items) item.hidden = !words.every(word => item.dataset.words.includes(word));
  for (const area of areas) area.hidden = !area.querySelector("[data-words]:not([hidden])");
  const found = items.filter(item => !item.hidden).length;
  told.value = found === 1 ? "1 page" : `${found} pages`;
  document.getElementById("nothing").hidden = found > 0;
}
form.hidden = false;
field.addEventListener("input", filter);
form.addEventListener("submit", event => {
  event.preventDefault();
  const first = items.find(item => !item.hidden);
  if (first) first.querySelector("a").click();
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
});
filter();
