"use strict";
// What charts gain where scripts run: values under the pointer, and at the same time in all charts over time; zoom into x of all of these
// (drag; a double click undoes it); lines that are switched off by a click on their name; one view of a heat map at a time. Paths and
// pictures hold the values (svg_plots.py, svg_heat_maps.py).
function failed(reason) {
  const line = document.createElement("p");
  line.className = "remark";
  line.dataset.scriptError = String(reason);
  line.textContent = "The figures do not show values under the pointer here: " + reason;
  document.querySelector("footer").before(line);
}
window.addEventListener("error", event => failed(event.message));
window.addEventListener("unhandledrejection", event => failed(event.reason));

const all = (parent, selector) => [...parent.querySelectorAll(selector)];
const between = (value, low, high) => Math.min(high, Math.max(low, value));

function element(parent, tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  parent.append(made);
  return made;
}

function numberText(value, digits = 4) {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  return Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7 ? value.toExponential(2) : String(Number(value.toPrecision(digits)));
}

// The axes of a plot. x and y: from a coordinate to a value; view: what of x is seen, [begin, end] in coordinates.
function axesOf(area) {
  if (area.axes) return area.axes;
  const [xStep, yStep] = (area.dataset.steps ?? "1 1").split(" ").map(Number);
  const log = area.dataset.log ?? "", svg = area.querySelector("svg");
  const box = svg ? svg.viewBox.baseVal : null;
  const whole = box ? [box.x, box.x + box.width] : area.dataset.x.split(" ").map(Number);
  area.axes = {whole, view: whole, holds: Number(area.dataset.holds ?? 0), yLow: box && -box.y - box.height, yLength: box && box.height,
               x: at => log.includes("x") ? 10 ** (at * xStep) : Number((at * xStep).toPrecision(9)), xStep,
               y: at => log.includes("y") ? 10 ** (at * yStep) : at * yStep};
  return area.axes;
}

// [{x, y, low}] of a path: of areas y and low are their edges, of bars y is the upper end.
function pointsOf(path) {
  if (path.points) return path.points;
  path.points = [];
  for (const part of path.getAttribute("d").split("M").slice(1)) {
    const numbers = part.match(/-?\d+/g).map(Number), found = [];
    let x = 0, y = 0;
    for (let at = 0; at + 1 < numbers.length; at += 2) found.push({x: x += numbers[at], y: y += numbers[at + 1]});
    if (path.classList.contains("area")) {
      found.slice(0, found.length / 2).forEach((point, index) => path.points.push({...point, low: found[found.length - 1 - index].y}));
    } else if (path.classList.contains("bars")) path.points.push(found[1]);
    else path.points.push(...(part.endsWith("l0 0") ? found.slice(0, 1) : found));
  }
  const notes = path.dataset.notes?.split("\n"), order = path.dataset.noteOf?.split(" ");
  if (notes) path.points.forEach((point, index) => { point.note = notes[order[index]]; });
  return path.points;
}

// The plots that share an axis with `area`: all of the page that name the same one, as long as it is not logarithmic.
const together = area => !area.dataset.xTitle || area.dataset.log || area.dataset.names ? [area] :
  all(document, ".plot-area").filter(other => other.dataset.xTitle === area.dataset.xTitle && !other.dataset.log && !other.dataset.names);

// The point at x; of values that hold up to the next one, the last before it.
const pointAt = (points, x, holds) => holds ? points.findLast(point => point.x <= x) ?? points[0] :
  points.reduce((best, point) => Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best);

// What a plot has at coordinate x: [{text, brief: without unit and notes, colour, point}]. Of the lines in the background the one nearest to `y` (share of the height;
// none without).
function valuesAt(area, x, y) {
  const axes = axesOf(area), unit = area.dataset.unit ? " " + area.dataset.unit : "", names = area.dataset.names?.split("\n");
  const log = (area.dataset.log ?? "").includes("x"), found = [], margin = 0.02 * (axes.view[1] - axes.view[0]);
  let member = null;
  for (const path of all(area, "path[data-name]")) {
    if (path.style.display === "none" || (y === undefined && path.classList.contains("member"))) continue;
    const points = pointsOf(path);
    if (!points.length) continue;
    const point = pointAt(points, x, axes.holds), end = points[points.length - 1].x + axes.holds;
    const inside = axes.holds || (point.x >= axes.view[0] && point.x <= axes.view[1]);
    if (!inside || (Math.abs(point.x - x) > margin && (x < points[0].x || x > end))) continue;
    const isBand = path.classList.contains("band");
    const value = path.classList.contains("share") ? numberText(axes.y(point.y - point.low), 3) :
      (isBand ? numberText(axes.y(point.low)) + " to " : "") + numberText(axes.y(point.y));
    const name = names ? names[axes.x(point.x)] : path.dataset.name;
    const brief = `${name ? name + ": " : ""}${value}`;
    const entry = {brief, text: brief + unit + (log ? ` (${numberText(axes.x(point.x))} ${area.dataset.xTitle})` : "") + (point.note ? ` (${point.note})` : ""),
                   colour: path.getAttribute("fill") ?? path.getAttribute("stroke"), point};
    if (!path.classList.contains("member")) found.push(entry);
    else {
      const distance = Math.abs((point.y - axes.yLow) / axes.yLength - y);
      if (distance < 0.08 && (!member || distance < member.distance)) member = {...entry, distance};
    }
  }
  return member ? [...found, member] : found;
}

// The pixels of a heat map's picture: bytes by line, each line behind a 0.
async function pixelsOf(area) {
  const source = area.querySelector("img").src;
  const bytes = Uint8Array.from(atob(source.slice(source.indexOf(",") + 1)), letter => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  let at = 8;
  while (view.getUint32(at + 4) !== 0x49444154) at += view.getUint32(at) + 12;
  const packed = new Blob([bytes.slice(at + 8, at + 8 + view.getUint32(at))]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
  return {width: view.getUint32(16), height: view.getUint32(20), bytes: new Uint8Array(await new Response(stream).arrayBuffer())};
}

async function cellAt(area, x, y) {
  area.pixels ??= pixelsOf(area);
  const {width, height, bytes} = await area.pixels, {whole} = axesOf(area);
  const column = between(Math.floor(width * (x - whole[0]) / (whole[1] - whole[0])), 0, width - 1);
  const row = between(Math.floor(height * (1 - y)), 0, height - 1);
  const level = bytes[row * (width + 1) + 1 + column], step = Number(area.dataset.high) / 254;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
  const middle = whole[0] + (column + 0.5) * (whole[1] - whole[0]) / width;
  const where = area.dataset.columns ? area.dataset.columns.split("\n")[column] : `${area.dataset.xTitle} ${numberText(Number(middle.toPrecision(9)))}`;
  const value = level === 255 ? "absent" : `${Number((level * step).toFixed(decimals))} ${area.dataset.unit ?? ""}`.trimEnd();
  return `${area.dataset.rows.split("\n")[row]}, ${where}: ${value}`;
}

const tip = element(document.body, "div", "tip");
tip.hidden = true;

function showTip(clientX, clientY, title, entries) {
  tip.replaceChildren();
  if (title) element(tip, "b", "", title);
  for (const {text, colour} of entries) {
    const line = element(tip, "div", "", text);
    if (colour) line.style.setProperty("--key", colour);
  }
  tip.hidden = !entries.length;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = between(clientX + 16 + width > window.innerWidth ? clientX - 16 - width : clientX + 16, 4, Math.max(4, window.innerWidth - width - 4)) + "px";
  tip.style.top = between(clientY + 12, 4, Math.max(4, window.innerHeight - height - 4)) + "px";
}

function leave(chart) {
  tip.hidden = true;
  all(document, ".cross").forEach(line => line.remove());
}

// share, y: where in the plot, from the left and from below; clientX, clientY: where on the screen.
async function point(chart, area, share, y, clientX, clientY) {
  const {view, holds, x: valueOf} = axesOf(area), x = view[0] + share * (view[1] - view[0]);
  chart.pointed = area;
  const entries = valuesAt(area, x, y), exact = entries.length && !area.dataset.log ? entries[0].point.x : x;
  all(document, ".cross").forEach(line => line.remove());
  for (const other of together(area)) {
    const {view: [begin, end], xStep} = axesOf(other), at = (holds ? x : exact) * axesOf(area).xStep / xStep, place = (at - begin) / (end - begin);
    if (place < 0 || place > 1) continue;
    const line = element(other, "i", place > 0.5 ? "cross flipped" : "cross");
    line.style.left = 100 * place + "%";
    if (other !== area) element(line, "b", "", valuesAt(other, at).map(entry => entry.brief).join(", "));
  }
  if (area.querySelector("img")) {
    const text = await cellAt(area, x, y);
    if (chart.pointed === area) showTip(clientX, clientY, "", [{text}]);
    return;
  }
  const name = area.dataset.xTitle, time = numberText(valueOf(exact), 9);
  showTip(clientX, clientY, area.dataset.log || !name || !entries.length ? "" : name.startsWith("ms") ? `${time} ${name}` : `${name} ${time}`, entries);
}

function niceTicks(low, high, most) {
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(one => one >= 0.9 * raw), found = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + 1e-9 * step; ++index) found.push(index * step);
  return found;
}

// These plots show this part of x, in values; null: all of it.
function zoom(areas, range) {
  for (const area of areas) {
    const axes = axesOf(area), svg = area.querySelector("svg"), image = area.querySelector("img");
    axes.view = range ? range.map(value => value / axes.xStep) : axes.whole;
    const [begin, end] = axes.view, length = axes.whole[1] - axes.whole[0];
    area.classList.toggle("zoomed", Boolean(range));
    if (svg) [svg.viewBox.baseVal.x, svg.viewBox.baseVal.width] = [begin, end - begin];
    if (image) {
      image.style.width = 100 * length / (end - begin) + "%";
      image.style.left = -100 * (begin - axes.whole[0]) / (end - begin) + "%";
    }
    const labels = area.parentElement.querySelector(".x-labels");
    labels.whole ??= [...labels.children];
    if (!range) labels.replaceChildren(...labels.whole);
    else {
      labels.replaceChildren();
      for (const tick of niceTicks(range[0], range[1], 8)) {
        const label = element(labels, "span", "", numberText(tick, 6));
        label.style.left = 100 * (tick - range[0]) / (range[1] - range[0]) + "%";
        label.style.transform = "translateX(-50%)";
      }
    }
  }
}

function listen(chart, area) {
  const canZoom = chart.classList.contains("zooms") || together(area).length > 1;
  let from = null, mark = null;
  const places = event => {
    const box = area.getBoundingClientRect();
    return [between((event.clientX - box.left) / box.width, 0, 1), between(1 - (event.clientY - box.top) / box.height, 0, 1)];
  };
  area.addEventListener("pointermove", event => {
    const [share, y] = places(event);
    if (from !== null) {
      mark ??= element(area, "i", "chosen");
      mark.style.left = 100 * Math.min(from, share) + "%";
      mark.style.width = 100 * Math.abs(share - from) + "%";
    }
    point(chart, area, share, y, event.clientX, event.clientY);
  });
  area.addEventListener("pointerdown", event => {
    const [share, y] = places(event);
    if (canZoom && event.button === 0 && event.pointerType === "mouse") {
      from = share;
      if (event.isTrusted) area.setPointerCapture(event.pointerId);
      event.preventDefault();
    } else point(chart, area, share, y, event.clientX, event.clientY);
  });
  area.addEventListener("pointerup", event => {
    const [share] = places(event), begin = from;
    from = null;
    mark?.remove();
    mark = null;
    if (begin === null || Math.abs(share - begin) < 0.01) return;
    const {view, xStep} = axesOf(area);
    zoom(together(area), [Math.min(begin, share), Math.max(begin, share)].map(part => (view[0] + part * (view[1] - view[0])) * xStep));
    leave(chart);
  });
  area.addEventListener("pointerleave", () => leave(chart));
  area.addEventListener("blur", () => leave(chart));
  if (canZoom) area.addEventListener("dblclick", () => zoom(together(area), null));
  area.addEventListener("keydown", event => {
    if (event.key === "Escape" && canZoom) zoom(together(area), null);
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    area.at = between((area.at ?? 0.5) + (event.key === "ArrowLeft" ? -0.01 : 0.01), 0, 1);
    const box = area.getBoundingClientRect();
    point(chart, area, area.at, 0.5, box.left + area.at * box.width, box.top + box.height / 2);
  });
}

// A click on a name hides what it stands for, and another one shows it.
function makeKeys(panel) {
  for (const key of all(panel, ".key")) {
    const paths = all(panel, "path[data-name]").filter(path => key.classList.contains("members") ? path.classList.contains("member") :
      path.dataset.name === key.textContent && !path.classList.contains("member"));
    if (!paths.length) continue;
    const press = () => {
      const off = key.classList.toggle("off");
      key.setAttribute("aria-pressed", !off);
      paths.forEach(path => { path.style.display = off ? "none" : ""; });
    };
    Object.assign(key, {tabIndex: 0, onclick: press, onkeydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); press(); } }});
    key.setAttribute("role", "button");
    key.setAttribute("aria-pressed", true);
  }
}

// One view is seen at a time.
function makeTabs(chart) {
  const panels = all(chart, ".panel");
  if (panels.length < 2) return;
  const bar = document.createElement("div");
  bar.className = "buttons";
  const show = index => {
    panels.forEach((panel, other) => { panel.hidden = other !== index; });
    [...bar.children].forEach((button, other) => button.setAttribute("aria-pressed", other === index));
  };
  panels.forEach((panel, index) => {
    const button = element(bar, "button", "", panel.querySelector("b").textContent);
    button.type = "button";
    button.addEventListener("click", () => show(index));
  });
  chart.prepend(bar);
  show(0);
}

for (const chart of all(document, ".chart, .plot-cell")) {
  all(chart, ".plot-area").forEach(area => listen(chart, area));
  all(chart, ".panel").forEach(makeKeys);
  if (chart.classList.contains("tabs")) makeTabs(chart);
}
// On paper nothing is folded.
const folded = () => all(document, "details:not([open])");
let opened = [];
window.addEventListener("beforeprint", () => { opened = folded(); opened.forEach(one => { one.open = true; }); });
window.addEventListener("afterprint", () => opened.forEach(one => { one.open = false; }));
if (document.querySelector(".zooms")) {
  element(document.querySelector("footer"), "span", "hint", " In figures: drag to zoom into all that share the time, double-click to undo it; a click on a name hides it.");
}
document.body.dataset.figuresReady = all(document, "figure").length;
