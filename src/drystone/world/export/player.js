// Plays a recording in one page: WebGL 2, instanced, no library, no network.
// SCENE is put before this by html.py: shapes, bodies, fixed, planes, times, data (base64).
"use strict";

const VERTEX = `#version 300 es
in vec3 corner, normal; in vec4 placeA, turnA, placeB, turnB; in vec3 colour;
uniform mat4 look; uniform float mixing; uniform vec4 shade; uniform vec3 sun; uniform float lift;
out vec3 n, c, where;
vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() {
  vec4 other = dot(turnA, turnB) < 0.0 ? -turnB : turnB;
  vec4 q = normalize(mix(turnA, other, mixing));
  vec3 at = mix(placeA.xyz, placeB.xyz, mixing) + turned(q, corner * placeA.w);
  n = turned(q, normal); c = colour;
  if (shade.w > -1e30) at -= ((dot(at, shade.xyz) - shade.w) / dot(sun, shade.xyz) - lift) * sun;
  where = at;
  gl_Position = look * vec4(at, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float; in vec3 n, c, where; uniform vec3 sun, eye, flatColour; uniform float lit;
uniform vec4 fog; out vec4 pixel;
void main() {
  vec3 m = normalize(n), toEye = normalize(eye - where);
  if (dot(m, toEye) < 0.0) m = -m;
  float day = max(dot(m, sun), 0.0), sky = 0.5 + 0.5 * m.z;
  vec3 colour = c * (0.34 + 0.22 * sky + 0.55 * day) + 0.06 * pow(max(dot(reflect(-sun, m), toEye), 0.0), 30.0);
  colour = mix(flatColour, colour, lit);
  float far = smoothstep(fog.x, fog.y, distance(where, eye));
  pixel = vec4(mix(colour, vec3(0.975, 0.972, 0.965), far), 1.0);
}`;

const byId = (id) => document.getElementById(id);
const player = { frame: 0, time: 0, playing: false, speed: 1, follow: -1, ready: false, drawn: 0 };
window.drystone = player;

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (x) => x.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function program(gl) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw gl.getShaderInfoLog(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  const place = (name) => gl.getUniformLocation(made, name);
  const names = ["look", "mixing", "shade", "sun", "lift", "eye", "flatColour", "lit", "fog"];
  made.at = Object.fromEntries(names.map((name) => [name, place(name)]));
  return made;
}

const sub = (a, b) => a.map((x, k) => x - b[k]);
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / Math.hypot(...a));

const camera = { turn: 0, tilt: 0.3, away: 5, target: [0, 0, 0] };
function eyeOf() {
  const c = Math.cos(camera.tilt);
  const out = [Math.cos(camera.turn) * c, Math.sin(camera.turn) * c, Math.sin(camera.tilt)];
  return camera.target.map((x, k) => x + camera.away * out[k]);
}
function lookMatrix(aspect) {
  const eye = eyeOf(), back = unit(sub(eye, camera.target));
  const right = unit(cross([0, 0, 1], back)), up = cross(back, right);
  const f = 1 / Math.tan((14 * Math.PI) / 180), near = camera.away / 50, far = camera.away * 60;
  const rows = [right.map((x) => (f / aspect) * x), up.map((x) => f * x), back, back];
  const shift = rows.map((row) => -dot(row, eye));
  const a = (far + near) / (near - far), b = (2 * far * near) / (near - far);
  rows[2] = back.map((x) => a * x); shift[2] = a * shift[3] + b;
  rows[3] = back.map((x) => -x); shift[3] = -shift[3];
  return new Float32Array([0, 1, 2].flatMap((k) => rows.map((row) => row[k])).concat(shift));
}

function batches(gl, made, data) {
  // One batch for each shape: its triangles once, and every body of it as an instance.
  const floats = new Float32Array(data);
  const take = (at, count) => floats.subarray(at, at + count);
  // Walls around something are drawn last, and seen through.
  const parts = [false, true].flatMap((clear) => SCENE.shapes.map((shape, k) => [shape, k, clear]));
  const list = parts.map(([shape, k, clear]) => {
    const bodies = clear ? [] : SCENE.bodies.map((body, b) => (body[0] === k ? b : -1)).filter((b) => b >= 0);
    const fixed = SCENE.fixed.filter((thing) => thing[0] === k && thing[4] === clear);
    if (!bodies.length && !fixed.length) return null;
    const batch = { bodies, fixed, clear, count: shape.count, instances: bodies.length + fixed.length };
    batch.array = gl.createVertexArray();
    gl.bindVertexArray(batch.array);
    const attach = (name, values, size, step, usage) => {
      const buffer = gl.createBuffer(), at = gl.getAttribLocation(made, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, values, usage);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
      gl.vertexAttribDivisor(at, step);
      return buffer;
    };
    attach("corner", take(shape.at, 3 * shape.count), 3, 0, gl.STATIC_DRAW);
    attach("normal", take(shape.at + 3 * shape.count, 3 * shape.count), 3, 0, gl.STATIC_DRAW);
    const colours = bodies.map((b) => SCENE.bodies[b][1]).concat(fixed.map((thing) => thing[2]));
    attach("colour", new Float32Array(colours.flat().map((x) => x / 255)), 3, 1, gl.STATIC_DRAW);
    batch.values = [0, 1, 2, 3].map(() => new Float32Array(4 * batch.instances));
    batch.buffers = ["placeA", "turnA", "placeB", "turnB"].map((name, side) =>
      attach(name, batch.values[side], 4, 1, gl.DYNAMIC_DRAW));
    return batch;
  }).filter((batch) => batch);
  return { list, poses: take(SCENE.pose_at, SCENE.times.length * SCENE.bodies.length * 7) };
}

function poseOf(poses, frame, b) {
  const at = (frame * SCENE.bodies.length + b) * 7;
  return poses.subarray(at, at + 7);
}

function fill(gl, scene, frame) {
  const next = Math.min(frame + 1, SCENE.times.length - 1);
  for (const batch of scene.list) {
    batch.bodies.concat(batch.fixed).forEach((thing, k) => {
      let a = typeof thing === "number" ? poseOf(scene.poses, frame, thing) : thing[1];
      let b = typeof thing === "number" ? poseOf(scene.poses, next, thing) : thing[1];
      const size = isNaN(a[0]) ? 0 : 1; // not there: drawn with no size
      if (!size) a = [0, 0, 0, 1, 0, 0, 0];
      if (isNaN(b[0])) b = a;
      [a, b].forEach((pose, side) => {
        batch.values[2 * side].set([pose[0], pose[1], pose[2], size], 4 * k);
        batch.values[2 * side + 1].set([pose[4], pose[5], pose[6], pose[3]], 4 * k);
      });
    });
    batch.buffers.forEach((buffer, side) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, batch.values[side]);
    });
  }
}

function groundBatch(gl, made, plane, reach) {
  const [point, normal] = plane;
  const u = unit(cross(Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], normal)), v = cross(normal, u);
  const corners = [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]];
  const place = corners.map(([a, b]) => point.map((x, k) => x + reach * (a * u[k] + b * v[k])));
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  const at = gl.getAttribLocation(made, "corner");
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(place.flat()), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 0, 0);
  return { array, shade: [...normal, dot(point, normal)] };
}

function constant(gl, made) {
  // What the ground has in place of instances.
  const set = (name, ...x) => gl.vertexAttrib4f(gl.getAttribLocation(made, name), ...x);
  set("placeA", 0, 0, 0, 1); set("placeB", 0, 0, 0, 1);
  set("turnA", 0, 0, 0, 1); set("turnB", 0, 0, 0, 1);
  set("normal", 0, 0, 1, 0); set("colour", 1, 1, 1, 1);
}

async function start() {
  const canvas = byId("view"), data = await unpack(SCENE.data);
  const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) { byId("note").textContent = "This browser has no WebGL 2."; return; }
  const made = program(gl), scene = batches(gl, made, data);
  const grounds = SCENE.planes.map((plane) => groundBatch(gl, made, plane, 40 * SCENE.radius));
  const sun = unit([-0.62, -0.42, 0.66]), at = made.at;
  camera.target = [...SCENE.centre];
  const narrow = Math.min(1, canvas.clientWidth / Math.max(canvas.clientHeight, 1)) || 1;
  camera.away = SCENE.radius / Math.sin(Math.atan(narrow * Math.tan((14 * Math.PI) / 180)));
  camera.turn = Math.atan2(SCENE.from[1], SCENE.from[0]);
  camera.tilt = Math.atan2(SCENE.from[2], Math.hypot(SCENE.from[0], SCENE.from[1]));
  const last = SCENE.times[SCENE.times.length - 1], first = SCENE.times[0];
  let shown = -1, before = null, looked = "";
  player.poses = (b) => Array.from(poseOf(scene.poses, player.frame, b));
  player.seek = (time) => { player.time = Math.min(Math.max(time, first), last); };
  player.play = (on = true) => {
    if (on && player.time >= last) player.time = first;
    player.playing = on;
    byId("play").textContent = on ? "\u2016" : "\u25B6";
  };
  player.seek(first);

  function frameAt(time) {
    let lo = 0, hi = SCENE.times.length - 1;
    while (hi - lo > 1) { const m = (lo + hi) >> 1; if (SCENE.times[m] <= time) lo = m; else hi = m; }
    return SCENE.times[hi] <= time ? hi : lo;
  }

  function draw(now) {
    if (player.playing && before !== null) {
      player.time += ((now - before) / 1000) * player.speed;
      if (player.time >= last) { player.time = last; player.play(false); }
    }
    before = now;
    player.frame = frameAt(player.time);
    if (player.frame !== shown) { fill(gl, scene, player.frame); shown = player.frame; }
    const next = Math.min(player.frame + 1, SCENE.times.length - 1);
    const span = SCENE.times[next] - SCENE.times[player.frame];
    const mixing = span > 0 ? (player.time - SCENE.times[player.frame]) / span : 0;
    if (player.follow >= 0) {
      const pose = poseOf(scene.poses, player.frame, player.follow);
      if (!isNaN(pose[0])) camera.target = [pose[0], pose[1], pose[2]];
    }
    player.drawn += 1;
    requestAnimationFrame(draw);
    // What stands costs nothing: a page of forty scenes would keep a machine busy.
    const state = JSON.stringify([player.time, camera, canvas.clientWidth, canvas.clientHeight, devicePixelRatio]);
    if (state === looked) return;
    looked = state;
    const wide = canvas.clientWidth * devicePixelRatio, high = canvas.clientHeight * devicePixelRatio;
    if (canvas.width !== Math.round(wide) || canvas.height !== Math.round(high)) {
      canvas.width = Math.round(wide); canvas.height = Math.round(high);
    }
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.975, 0.972, 0.965, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(made);
    gl.uniformMatrix4fv(at.look, false, lookMatrix(canvas.width / Math.max(canvas.height, 1)));
    gl.uniform3fv(at.sun, sun); gl.uniform3fv(at.eye, eyeOf());
    gl.uniform1f(at.mixing, mixing);
    gl.uniform4f(at.fog, 8 * camera.away, 30 * camera.away, 0, 0);
    gl.uniform4f(at.shade, 0, 0, 0, -2e30);
    gl.uniform1f(at.lit, 1);
    const all = (clear) => scene.list.forEach((batch) => {
      if (batch.clear !== clear) return;
      gl.bindVertexArray(batch.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, batch.count, batch.instances);
    });
    all(false);
    gl.uniform1f(at.lit, 0);
    for (const ground of grounds) {
      if (dot(eyeOf(), ground.shade) < ground.shade[3]) continue; // from behind it would hide all
      gl.uniform3f(at.flatColour, 0.894, 0.878, 0.847);
      gl.bindVertexArray(ground.array);
      constant(gl, made);
      gl.drawArrays(gl.TRIANGLES, 0, 6);
      if (dot(sun, ground.shade) <= 0.05) continue;
      gl.uniform3f(at.flatColour, 0.725, 0.706, 0.667);
      gl.uniform4f(at.shade, ...ground.shade);
      gl.uniform1f(at.lift, 4e-4 * camera.away);
      all(false);
      gl.uniform4f(at.shade, 0, 0, 0, -2e30);
    }
    gl.uniform1f(at.lit, 1);
    gl.enable(gl.BLEND);
    gl.blendColor(0, 0, 0, 0.3);
    gl.blendFunc(gl.CONSTANT_ALPHA, gl.ONE_MINUS_CONSTANT_ALPHA);
    gl.depthMask(false);
    all(true);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    if (document.activeElement !== byId("scrub")) byId("scrub").value = player.time;
    byId("time").textContent = player.time.toFixed(2) + " s";
  }

  const scrub = byId("scrub");
  scrub.min = first; scrub.max = last; scrub.step = "any"; scrub.value = first;
  scrub.oninput = () => player.seek(parseFloat(scrub.value));
  byId("play").onclick = () => player.play(!player.playing);
  byId("speed").onchange = (event) => { player.speed = parseFloat(event.target.value); };
  if (last === first) byId("bar").style.display = "none";
  attachMouse(canvas, scene);
  addEventListener("keydown", (event) => {
    if (event.key === " ") { player.play(!player.playing); event.preventDefault(); }
  });
  player.ready = true;
  byId("note").textContent = "";
  requestAnimationFrame(draw);
}

function pick(canvas, scene, x, y) {
  // The body whose centre is nearest to the ray through the pixel, within its radius.
  const eye = eyeOf(), back = unit(sub(eye, camera.target));
  const right = unit(cross([0, 0, 1], back)), up = cross(back, right);
  const f = Math.tan((14 * Math.PI) / 180), box = canvas.getBoundingClientRect();
  const sx = (2 * (x - box.left) / box.width - 1) * f * (box.width / box.height);
  const sy = (1 - 2 * (y - box.top) / box.height) * f;
  const ray = unit(back.map((b, k) => -b + sx * right[k] + sy * up[k]));
  let best = -1, nearest = Infinity;
  SCENE.bodies.forEach((body, b) => {
    const pose = poseOf(scene.poses, player.frame, b);
    if (isNaN(pose[0])) return;
    const away = sub([pose[0], pose[1], pose[2]], eye), along = dot(away, ray);
    const miss = Math.sqrt(Math.max(dot(away, away) - along * along, 0));
    if (along > 0 && miss < SCENE.shapes[body[0]].radius && along < nearest) { nearest = along; best = b; }
  });
  return best;
}

function attachMouse(canvas, scene) {
  let down = null, moved = 0;
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.onpointerdown = (event) => {
    down = event; moved = 0; canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => {
    if (!down) return;
    const dx = event.clientX - down.clientX, dy = event.clientY - down.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (down.button === 2 || down.shiftKey) {
      const scale = (camera.away * 0.5) / canvas.clientHeight, c = Math.cos(camera.turn), s = Math.sin(camera.turn);
      camera.target[0] += scale * (dx * s + dy * -c); camera.target[1] += scale * (-dx * c + dy * -s);
      player.follow = -1;
    } else {
      camera.turn -= 0.006 * dx;
      camera.tilt = Math.min(Math.max(camera.tilt + 0.006 * dy, -1.5), 1.55);
    }
    down = event.buttons ? Object.assign({}, { clientX: event.clientX, clientY: event.clientY, button: down.button, shiftKey: down.shiftKey }) : null;
  };
  canvas.onpointerup = (event) => {
    if (down && moved < 4) {
      const b = pick(canvas, scene, event.clientX, event.clientY);
      player.follow = b;
      byId("note").textContent = b < 0 ? "" : SCENE.bodies[b][2] + " (followed; click beside it to stop)";
    }
    down = null;
  };
  canvas.onwheel = (event) => {
    camera.away *= Math.exp(0.001 * event.deltaY);
    event.preventDefault();
  };
}

start().catch((error) => { byId("note").textContent = `This page cannot be shown: ${error}`; });
