() => {
  const least = 12, tolerance = 0.05, overlapsAcross = 1, overlapsDown = 4;
  const found = new Set();
  const isShown = (one) => one.textContent.trim() && one.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const said = (one) => `${one.tagName}.${one.getAttribute("class")} "${one.textContent.trim().slice(0, 40)}"`;
  for (const one of document.querySelectorAll("body *:not(script, style, title, desc)")) {
    const hasWords = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!hasWords || !isShown(one) || one.getBoundingClientRect().width <= 2) continue;
    const matrix = one.ownerSVGElement ? one.getScreenCTM() : {a: 1, b: 0};
    const size = parseFloat(getComputedStyle(one).fontSize) * Math.hypot(matrix.a, matrix.b);
    if (size > 0 && size < least - tolerance) found.add(`${size.toFixed(1)} px: ${said(one)}`);
  }
  for (const picture of document.querySelectorAll("svg")) {
    const level = [...picture.querySelectorAll("text")].filter((one) => isShown(one) && Math.abs(one.getScreenCTM().b) < 1e-6);
    const boxes = level.map((one) => one.getBoundingClientRect());
    level.forEach((one, i) => level.slice(0, i).forEach((other, j) => {
      const across = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
      const down = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
      if (across > overlapsAcross && down > overlapsDown) found.add(`${said(one)} covers ${said(other)}`);
    }));
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.add(`it is scrolled sideways: ${root.scrollWidth} px`);
  return [...found];
}
