"use strict";
// Unpacks plotly.js and the figures, and draws each figure in the place of its still picture. Where that does not
// work, the pictures stay, and the reason stands at the end of the page.
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

async function drawAll() {
  const script = document.createElement("script");
  script.textContent = await unpack("packed-plotly");
  document.head.append(script);
  const figures = JSON.parse(await unpack("packed-figures"));
  const options = {responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"]};
  for (const [id, figure] of Object.entries(figures)) {
    const place = document.getElementById(id);
    const chart = document.createElement("div");
    chart.className = "chart";
    place.prepend(chart);
    await Plotly.newPlot(chart, figure.data, figure.layout, options);
    place.classList.add("drawn");
  }
  document.body.dataset.figuresDrawn = Object.keys(figures).length;
}
drawAll();
