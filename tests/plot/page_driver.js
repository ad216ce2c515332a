// Runs the script of a page with as much of a browser as it needs, and tells what it drew.
"use strict";
const fs = require("fs"), vm = require("vm");
const [data, script] = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
let drawn = {bars: 0, texts: []};
const context = canvas => new Proxy({}, {
  get: (_, name) => {
    if (name === "measureText") return text => ({width: text.length * 6});
    if (name === "fillText") return text => drawn.texts.push([canvas.id, text]);
    if (name === "fillRect") return (x, y, w, h) => { if (h === 17) drawn.bars++; };
    if (name === "createLinearGradient") return () => ({addColorStop: (at) => { if (!(at >= 0 && at <= 1)) throw new Error("stop " + at); }});
    return () => {};
  },
  set: () => true,
});
const elements = {};
function element(id) {
  const e = {id, style: {}, children: [], clientWidth: 1000, offsetWidth: 100, offsetHeight: 40, textContent: "", listeners: {},
    append(...items) { this.children.push(...items); }, setPointerCapture() {},
    addEventListener(name, f) { this.listeners[name] = f; }};
  e.getContext = () => context(e);
  return e;
}
const document = {
  getElementById: id => elements[id] || (elements[id] = element(id)),
  createElement: () => element("new"), createTextNode: text => ({text}), documentElement: {},
};
document.getElementById("data").textContent = data;
const globals = {
  document, innerWidth: 1200, innerHeight: 800, console, BigInt, window: {devicePixelRatio: 2},
  getComputedStyle: () => ({getPropertyValue: () => "#000"}), addEventListener() {},
  matchMedia: () => ({addEventListener() {}}), requestAnimationFrame: f => f(),
};
vm.runInNewContext(script, globals);
const chart = elements.chart, shown = () => elements.shown.textContent;
const told = {bars: drawn.bars, texts: drawn.texts.map(t => t[1]), shown: shown(),
  ticks: drawn.texts.filter(t => t[0] === "axis").length};
// point at everything until something of a ship in port a is told
told.tip = "";
for (let y = 0; y < 400 && !told.tip; y += 4) for (let x = 0; x < 1000 && !told.tip; x += 4) {
  chart.onpointermove({offsetX: x, offsetY: y, clientX: x, clientY: y});
  const text = elements.tip.style.display === "block" ? elements.tip.textContent : "";
  if (text.includes("moored") && text.includes("Port = a")) told.tip = text;
}
const press = key => chart.onkeydown({key, preventDefault() {}});
// to the first instant
const wheel = (x, deltaY) => chart.listeners.wheel({ctrlKey: true, deltaX: 0, deltaY, offsetX: x, preventDefault() {}});
const span = JSON.parse(data).span;
for (let i = 0; i < 8; i++) wheel(110, -50);
told.near = shown();
press("0");
if (shown() !== told.shown) throw new Error("not everything again: " + shown());
for (let i = 0; i < 12; i++) press("ArrowRight");
told.far = shown();
press("0");
// drag there and back
chart.onpointerdown({clientX: 500, pointerId: 1});
chart.onpointermove({clientX: -2500, pointerId: 1});
if (shown() !== told.far) throw new Error("dragged: " + shown());
chart.onpointerup();
press("0");
const box = elements.legend.children[2].children[0];
box.checked = false;
box.onchange();
told["without trips"] = shown();
if (!(span > 0)) throw new Error("span");
console.log(JSON.stringify(told));
