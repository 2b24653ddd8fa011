# ruff: noqa: E501  the script is laid out for its size
"""The page of the 3D view; __TITLE__ and __DATA__ are filled in."""

VIEW_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>__TITLE__</title>
<style>
html, body { margin: 0; height: 100%; overflow: hidden; font: 14px system-ui, sans-serif; }
canvas { width: 100%; height: 100%; display: block; background: #dfe9f2; touch-action: none; }
#panel { position: absolute; top: 10px; left: 10px; background: #fffd; padding: 8px 12px;
  border-radius: 6px; max-width: 22rem; }
#panel h1 { font-size: 16px; margin: 0 0 6px; }
#panel label { display: block; margin: 3px 0; }
#bar { height: 10px; background: linear-gradient(90deg, #30123b, #4675ed, #1ae4b6, #a4fc3c, #fb7e21,
  #7a0403); }
#time { width: 100%; }
</style></head><body>
<canvas id="c"></canvas>
<div id="panel"><h1>__TITLE__</h1>
<label>colour <select id="what"><option value="5">kinetic energy [kJ]</option>
<option value="4">velocity [m/s]</option></select></label>
<div id="bar"></div><div id="range"></div>
<label><input type="checkbox" id="lines" checked> trajectories</label>
<label><input type="checkbox" id="rocks" checked> rocks (boxes of their volume)</label>
<label id="treebox"><input type="checkbox" id="trees" checked> trees (<span id="treecount"></span>)</label>
<label>rocks <input type="range" id="size" min="1" max="10" value="1"> times as large</label>
<label>time <input type="range" id="time" min="0" max="1000" value="0"></label>
<button id="play">play</button> <span id="clock"></span>
<div style="color:#555;font-size:12px">drag: turn; shift-drag: move; wheel: zoom</div></div>
<script>
"use strict";
const D = __DATA__;
const floats = s => { const b = atob(s), u = new Uint8Array(b.length);
  for (let i = 0; i < b.length; i++) u[i] = b.charCodeAt(i); return new Float32Array(u.buffer); };
const Z = floats(D.heights), P = floats(D.points), W = 10, $ = id => document.getElementById(id);
const canvas = $("c"), gl = canvas.getContext("webgl");
if (!gl) document.body.textContent = "This browser has no WebGL.";
const VS = `attribute vec3 p; attribute vec3 n; attribute vec3 c; uniform mat4 m; varying vec3 v;
void main() { gl_Position = m * vec4(p, 1.0);
  float l = dot(n, n) > 0.0 ? 0.45 + 0.55 * max(dot(normalize(n), vec3(-0.5, 0.5, 0.707)), 0.0) : 1.0;
  v = c * l; }`;
const FS = `precision mediump float; varying vec3 v; uniform float a;
void main() { gl_FragColor = vec4(v, a); }`;
const shader = (k, s) => { const x = gl.createShader(k); gl.shaderSource(x, s); gl.compileShader(x);
  if (!gl.getShaderParameter(x, gl.COMPILE_STATUS)) throw gl.getShaderInfoLog(x); return x; };
const prog = gl.createProgram();
gl.attachShader(prog, shader(gl.VERTEX_SHADER, VS));
gl.attachShader(prog, shader(gl.FRAGMENT_SHADER, FS));
gl.linkProgram(prog); gl.useProgram(prog);
const at = n => gl.getAttribLocation(prog, n), uni = n => gl.getUniformLocation(prog, n);
const A = { p: at("p"), n: at("n"), c: at("c") }, M = uni("m"), ALPHA = uni("a");
for (const k of Object.values(A)) gl.enableVertexAttribArray(k);
function upload(mesh, data) { mesh.buffer = mesh.buffer || gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
  mesh.count = data.length / 9; return mesh; }
function draw(mesh, kind, alpha, first, count) { if (!mesh.count) return;
  gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer); gl.uniform1f(ALPHA, alpha);
  gl.vertexAttribPointer(A.p, 3, gl.FLOAT, false, 36, 0);
  gl.vertexAttribPointer(A.n, 3, gl.FLOAT, false, 36, 12);
  gl.vertexAttribPointer(A.c, 3, gl.FLOAT, false, 36, 24);
  gl.drawArrays(kind, first || 0, count === undefined ? mesh.count : count); }
const STOPS = [[.19,.07,.23],[.27,.46,.93],[.1,.89,.71],[.64,.99,.24],[.98,.49,.13],[.48,.02,.01]];
function ramp(t) { t = Math.min(Math.max(t, 0), 1) * 5; const i = Math.min(Math.floor(t), 4), f = t - i;
  return STOPS[i].map((x, k) => x + f * (STOPS[i + 1][k] - x)); }
const cross = (a, b) => [a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2], a[0]*b[1]-a[1]*b[0]];
const minus = (a, b) => [a[0]-b[0], a[1]-b[1], a[2]-b[2]];
function face(out, a, b, c, colour) { const n = cross(minus(b, a), minus(c, a));
  for (const p of [a, b, c]) out.push(...p, ...n, ...colour); }
const node = (i, j) => [D.first[0] + j * D.step[0], D.first[1] - i * D.step[1], Z[i * D.columns + j]];
const ground = []; let reach = 1;
for (let i = 0; i + 1 < D.rows; i++) for (let j = 0; j + 1 < D.columns; j++) {
  const q = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
  if (q.some(p => p[2] < -1e8)) continue;
  face(ground, q[0], q[1], q[2], [.72, .7, .64]); face(ground, q[0], q[2], q[3], [.72, .7, .64]);
  reach = Math.max(reach, Math.abs(q[0][0]), Math.abs(q[0][1])); }
const terrain = upload({}, ground), walls = [];
for (const b of D.barriers) for (let k = 0; k + 1 < b.feet.length; k++) {
  const p = b.feet[k], q = b.feet[k + 1], r = b.top[k + 1], s = b.top[k];
  face(walls, p, q, r, [.85, .1, .1]); face(walls, p, r, s, [.85, .1, .1]); }
const T = floats(D.trees.trunks), wood = [], bark = [.33, .25, .15];
for (let k = 0; k < D.trees.count; k++) { const [x, y, z, r, h] = T.subarray(5 * k, 5 * k + 5);
  const ring = (a, up) => [x + r * Math.cos(a * Math.PI / 3), y + r * Math.sin(a * Math.PI / 3), z + up];
  for (let a = 0; a < 6; a++) { face(wood, ring(a, -1), ring(a + 1, -1), ring(a + 1, h), bark);
    face(wood, ring(a, -1), ring(a + 1, h), ring(a, h), bark); } }
const trees = upload({}, wood); $("treebox").hidden = !D.trees.count;
$("treecount").textContent = D.trees.count < D.trees.all ? D.trees.count + " of " + D.trees.all : D.trees.all;
const barriers = upload({}, walls), paths = {}, ends = D.starts.map((s, k) =>
  k + 1 < D.starts.length ? D.starts[k + 1] : D.count);
let last = 0; for (const e of ends) last = Math.max(last, P[(e - 1) * W + 3]);
let peak = 1;
function colour() { const w = +$("what").value, data = []; peak = 1e-9;
  for (let i = 0; i < D.count; i++) peak = Math.max(peak, P[i * W + w]);
  D.starts.forEach((s, k) => { for (let i = s; i + 1 < ends[k]; i++) for (const j of [i, i + 1])
    data.push(P[j*W], P[j*W+1], P[j*W+2], 0, 0, 0, ...ramp(P[j * W + w] / peak)); });
  upload(paths, data); $("range").textContent = "0 to " + (peak < 10 ? peak.toPrecision(2) : Math.round(peak)); }
const CUBE = [[0,1,3,2],[4,6,7,5],[0,4,5,1],[2,3,7,6],[0,2,6,4],[1,5,7,3]];
const rocks = {};
function place(t) { const data = [], w = +$("what").value;
  D.starts.forEach((s, k) => { let i = s, e = ends[k] - 1;
    if (t >= P[e * W + 3]) i = e; else { let lo = s, hi = e;
      while (hi - lo > 1) { const m = (lo + hi) >> 1; if (P[m * W + 3] <= t) lo = m; else hi = m; } i = lo; }
    const j = Math.min(i + 1, e), dt = P[j*W+3] - P[i*W+3], f = dt > 0 ? Math.min((t - P[i*W+3]) / dt, 1) : 0;
    const x = [0, 1, 2].map(a => P[i*W+a] + f * (P[j*W+a] - P[i*W+a]));
    let q = [6, 7, 8, 9].map(a => P[i*W+a]), r = [6, 7, 8, 9].map(a => P[j*W+a]);
    if (q.reduce((z, v, a) => z + v * r[a], 0) < 0) r = r.map(v => -v);
    q = q.map((v, a) => v + f * (r[a] - v)); const l = Math.hypot(...q) || 1; q = q.map(v => v / l);
    const h = 0.5 * D.sizes[k] * +$("size").value, corner = [];
    for (let c = 0; c < 8; c++) { const v = [c & 4 ? h : -h, c & 2 ? h : -h, c & 1 ? h : -h];
      const u = q.slice(1), y = cross(u, v).map((z, a) => z + q[0] * v[a]), g = cross(u, y);
      corner.push(v.map((z, a) => x[a] + z + 2 * g[a])); }
    const paint = ramp(P[i * W + w] / peak);
    for (const [a, b, c, d] of CUBE) { face(data, corner[a], corner[b], corner[c], paint);
      face(data, corner[a], corner[c], corner[d], paint); } });
  upload(rocks, data); }
let yaw = D.yaw, pitch = 0.4, far = 2.2 * reach, look = [0, 0, 0], now = 0, playing = false, before = 0;
function matrix() { const cp = Math.cos(pitch), eye = [far*cp*Math.sin(yaw), -far*cp*Math.cos(yaw), far*Math.sin(pitch)];
  const f = eye.map(v => -v / far), s = [Math.cos(yaw), Math.sin(yaw), 0], u = cross(s, f);
  const o = [look[0]+eye[0], look[1]+eye[1], look[2]+eye[2]], dot = (a, b) => a[0]*b[0]+a[1]*b[1]+a[2]*b[2];
  const a = canvas.width / canvas.height, k = 1.6, n = far * 0.01, z = far * 10 + 4 * reach;
  const V = [s, u, f.map(v => -v)], m = new Float32Array(16);
  for (let c = 0; c < 4; c++) { const e = c < 3 ? V.map(r => r[c]) : V.map(r => -dot(r, o)), w = c < 3 ? 0 : 1;
    m[c*4] = k / a * e[0]; m[c*4+1] = k * e[1]; m[c*4+2] = -(z+n)/(z-n) * e[2] - 2*z*n/(z-n) * w; m[c*4+3] = -e[2]; }
  return m; }
function frame(stamp) {
  const dpr = window.devicePixelRatio || 1; canvas.width = canvas.clientWidth * dpr; canvas.height = canvas.clientHeight * dpr;
  if (playing) { now += (stamp - before) / 1000; if (now > last) now = 0; $("time").value = 1000 * now / (last || 1); }
  before = stamp; place(now); $("clock").textContent = now.toFixed(1) + " s of " + last.toFixed(1) + " s";
  gl.viewport(0, 0, canvas.width, canvas.height); gl.clearColor(.87, .91, .95, 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT); gl.enable(gl.DEPTH_TEST);
  gl.uniformMatrix4fv(M, false, matrix());
  draw(terrain, gl.TRIANGLES, 1); if ($("trees").checked) draw(trees, gl.TRIANGLES, 1);
  if ($("lines").checked) draw(paths, gl.LINES, 1);
  if ($("rocks").checked) draw(rocks, gl.TRIANGLES, 1);
  gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA); draw(barriers, gl.TRIANGLES, .6);
  gl.disable(gl.BLEND); requestAnimationFrame(frame); }
let held = null;
canvas.onpointerdown = e => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); };
canvas.onpointerup = () => { held = null; };
canvas.onpointermove = e => { if (!held) return; const dx = e.clientX - held[0], dy = e.clientY - held[1];
  held = [e.clientX, e.clientY];
  if (e.shiftKey) { const k = far / canvas.clientHeight;
    look[0] -= k * (dx * Math.cos(yaw) + dy * Math.sin(yaw)); look[1] -= k * (dx * Math.sin(yaw) - dy * Math.cos(yaw)); }
  else { yaw -= dx * .008; pitch = Math.min(Math.max(pitch + dy * .008, .05), 1.55); } };
canvas.onwheel = e => { e.preventDefault(); far *= Math.exp(e.deltaY * .001); };
$("what").onchange = colour; $("time").oninput = e => { now = e.target.value / 1000 * last; };
$("play").onclick = e => { playing = !playing; e.target.textContent = playing ? "pause" : "play"; };
now = last / 3; $("time").value = 333; colour(); requestAnimationFrame(frame);
</script></body></html>
"""
