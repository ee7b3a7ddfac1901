"use strict";
// Unpacks plotly.js and the figures, and draws each figure in the place of its still picture, in the colours of page.css.
// Where that does not work, the pictures stay, and the reason stands at the end of the page.
function failed(reason) {
  const line = document.createElement("p");
  line.className = "remark";
  line.dataset.scriptError = String(reason);
  line.textContent = "The figures are still pictures here: " + reason;
  document.querySelector("footer").before(line);
}
window.addEventListener("error", event => failed(event.message));
window.addEventListener("unhandledrejection", event => failed(event.reason));

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function element(parent, tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  parent.append(made);
  return made;
}

// The value of a CSS variable for each var(--name).
function coloured(text) {
  const style = getComputedStyle(document.documentElement);
  return text.replace(/var\((--[a-z]+)\)/g, (whole, name) => style.getPropertyValue(name).trim() || whole);
}

const narrow = window.matchMedia("(max-width: 600px)");
const plots = [];  // {plot, text}: where each panel is drawn, and the panel as JSON with names of colours

function draw({plot, text}) {
  const {data, layout} = JSON.parse(coloured(text));
  layout.hoverlabel = {font: {size: 12}};
  if (narrow.matches) {
    // A finger that drags scrolls the page.
    layout.dragmode = false;
    layout.font.size = 10;
    layout.margin.l = 38;
    if (typeof data[0].x[0] === "string") {
      layout.xaxis.tickangle = 35;
      layout.xaxis.automargin = true;
    }
    if (layout.xaxis.nticks) layout.xaxis.nticks = Math.min(layout.xaxis.nticks, 4);
  }
  return Plotly.react(plot, data, layout, {responsive: true, displayModeBar: false});
}

function addPanel(parent, panel) {
  const place = element(parent, "div", "panel");
  const head = element(place, "div", "panel-head");
  element(head, "b", "", panel.title);
  for (const [colour, sign, name] of panel.key) {
    const entry = element(head, "span", "key " + sign, name);
    entry.style.setProperty("--key", colour);
  }
  const added = {place, plot: element(place, "div", "plot"), text: JSON.stringify(panel)};
  plots.push(added);
  return added;
}

// Panels of a stack show the same stretch of the x axis.
function link(panels) {
  let busy = false;
  for (const {plot} of panels) {
    plot.on("plotly_relayout", async change => {
      if (busy || !Object.keys(change).some(key => key.startsWith("xaxis."))) return;
      busy = true;
      const {range, autorange} = plot.layout.xaxis;
      const update = autorange ? {"xaxis.autorange": true} : {"xaxis.range": range};
      await Promise.all(panels.filter(other => other.plot !== plot).map(other => Plotly.relayout(other.plot, update)));
      busy = false;
    });
  }
}

// One panel is seen at a time; it is drawn when it is seen first.
function addTabs(chart, panels) {
  const bar = element(chart, "div", "buttons");
  const show = async index => {
    panels.forEach(({place}, other) => { place.hidden = other !== index; });
    [...bar.children].forEach((button, other) => button.setAttribute("aria-pressed", other === index));
    if (!panels[index].plot.data) await draw(panels[index]);
  };
  panels.forEach((panel, index) => {
    const button = element(bar, "button", "", panel.place.querySelector("b").textContent);
    button.type = "button";
    button.addEventListener("click", () => show(index));
  });
  chart.prepend(bar);
  return show(0);
}

async function drawAll() {
  const script = document.createElement("script");
  script.textContent = await unpack("packed-plotly");
  document.head.append(script);
  const figures = JSON.parse(await unpack("packed-figures"));
  for (const [id, figure] of Object.entries(figures)) {
    const place = document.getElementById(id);
    const chart = document.createElement("div");
    chart.className = "chart " + figure.kind;
    place.prepend(chart);
    place.classList.add("drawn");
    const panels = figure.panels.map(panel => addPanel(chart, panel));
    if (figure.kind === "tabs" && panels.length > 1) {
      await addTabs(chart, panels);
    } else {
      await Promise.all(panels.map(draw));
      if (figure.kind === "stack") link(panels);
    }
  }
  const redraw = () => plots.filter(({plot}) => plot.data).forEach(draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  narrow.addEventListener("change", redraw);
  document.body.dataset.figuresDrawn = Object.keys(figures).length;
}
drawAll();
