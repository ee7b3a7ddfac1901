"use strict";
// Run beside a page in an iframe: what does not fit, what overlaps. window.examine(frame) gives a plain object.
window.examine = frame => {
  const page = frame.contentDocument, width = frame.clientWidth;
  page.querySelectorAll("details").forEach(one => { one.open = true; });
  const seen = element => element.getClientRects().length > 0;
  const name = element => `${element.className.baseVal ?? element.className}: ${element.textContent.trim().slice(0, 40)}`;
  const inScroller = element => element.closest(".wide");
  const wide = [...page.querySelectorAll("main *")].filter(element => seen(element) && !inScroller(element)
    && !element.closest("svg") && element.getBoundingClientRect().right > width + 1).map(name);
  const overlapping = [];
  for (const labels of page.querySelectorAll(".x-labels, .y-labels")) {
    const boxes = [...labels.children].filter(seen).map(label => [label, label.getBoundingClientRect()]);
    boxes.forEach(([label, box], index) => boxes.slice(index + 1).forEach(([other, next]) => {
      if (box.left < next.right && next.left < box.right && box.top < next.bottom - 2 && next.top < box.bottom - 2)
        overlapping.push(`${label.textContent} and ${other.textContent}`);
    }));
  }
  const small = [...page.querySelectorAll("main *")].filter(element => seen(element) && element.childElementCount === 0
    && element.textContent.trim() && parseFloat(getComputedStyle(element).fontSize) < 11).map(name);
  page.querySelectorAll("details").forEach(one => { one.open = false; });
  const bottoms = {};
  for (const part of ["verdict", "ranking", "panel"]) {
    const element = page.querySelector("." + part);
    if (element) bottoms[part] = element.getBoundingClientRect().bottom;
  }
  return {width, scroll: page.documentElement.scrollWidth, wide, overlapping, small, bottoms,
          plots: [...page.querySelectorAll(".plot-area path.line")].filter(seen).length,
          height: page.documentElement.scrollHeight};
};
