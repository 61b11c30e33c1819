// page_model.js PAGE.html EVENTS.csv: the model in a page's script against the report's row an event, and against itself.
"use strict";
const fs = require("fs");
const page = fs.readFileSync(process.argv[2], "utf8");
const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(m => m[1]);
const fail = text => { console.log("FAILED: " + text); process.exit(1); };
if (scripts.length !== 2) fail(scripts.length + " scripts, expected the data and the program");
const data = JSON.parse(scripts[0]);
const { Track, columns, difference, running } = new Function(scripts[1] + "\nreturn { Track, columns, difference, running };")();

const track = new Track(data.files[0]);
const lines = fs.readFileSync(process.argv[3], "utf8").split("\n");
const names = lines[0].trim().split(",");
const allocated = names.indexOf("allocated"), reserved = names.indexOf("reserved");
if (allocated < 0 || reserved < 0) fail("the CSV has no such columns: " + lines[0]);
const rows = lines.slice(1).filter(l => l).map(l => l.split(","));
if (rows.length !== data.files[0].events) fail(rows.length + " rows, " + data.files[0].events + " events");
let highest = 0;
for (const row of rows) highest = Math.max(highest, +row[allocated]);
if (highest !== data.files[0].peak) fail("peak " + data.files[0].peak + ", expected " + highest);

// each kept moment has the figures of the report, and none between two of them is higher than both buckets' maxima
const bucket = data.files[0].bucket;
for (let i = 1; i < track.count; i++) {
  const row = rows[track.moment[i] - 1];
  if (track.total[i] !== +row[allocated]) fail("event " + row[0] + ": " + track.total[i] + ", expected " + row[allocated]);
  if (track.reserved[i] !== +row[reserved]) fail("event " + row[0] + ": reserved " + track.reserved[i] + ", expected " + row[reserved]);
}
if (bucket === 1 && track.count !== rows.length + 1) fail(track.count + " moments of " + rows.length + " events");
const kept = new Map();
for (let i = 0; i < track.count; i++) {
  const at = Math.floor(track.moment[i] / bucket);
  kept.set(at, Math.max(kept.get(at) || 0, track.total[i]));
}
for (let e = 0; e < rows.length; e++)
  if (+rows[e][allocated] > kept.get(Math.floor((e + 1) / bucket))) fail("the spike of event " + e + " is lost");

// bands and owners of every grouping sum to the total
let seed = 7;
const random = n => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n; };
for (const grouping of Object.keys(data.files[0].groupings))
  for (let k = 0; k < 40; k++) {
    const i = k === 0 ? 0 : k === 1 ? track.count - 1 : random(track.count);
    const owners = track.owners(i, grouping).reduce((sum, row) => sum + row.bytes, 0);
    const bands = track.bandSums(grouping, i).reduce((sum, bytes) => sum + bytes, 0);
    if (owners !== track.total[i] || bands !== track.total[i]) fail(grouping + " at " + i + ": owners " + owners + ", bands " + bands + ", expected " + track.total[i]);
  }

// a column shows the highest of what begins in it, or the state before
const ends = { events: track.moment[track.count - 1] - 1, time: track.time[track.count - 1] };
for (let k = 0; k < 60; k++) {
  const byTime = k % 2 === 1, all = byTime ? ends.time : ends.events, x0 = k < 4 ? 0 : (all * random(1000)) / 1000;
  const x1 = k < 4 ? all : Math.min(all, x0 + Math.max(3, all / (1 + random(500)))), width = 1 + random(300);
  if (x1 <= x0) continue;
  const list = columns(track, byTime, x0, x1, width);
  if (list.length !== width) fail(list.length + " columns of " + width);
  const position = i => (byTime ? track.time[i] : track.moment[i] - 1);
  let most = 0, shown = 0;
  for (let i = 0; i < track.count; i++) if (position(i) >= x0 && position(i) < x1) most = Math.max(most, track.total[i]);
  for (const c of list) shown = Math.max(shown, track.total[c.at]);
  if (shown < most) fail("a view of " + width + " columns shows " + shown + ", there is " + most);
}

// against itself there is no difference
const identity = Float64Array.from(track.moment), diff = difference(track, track, identity);
if (bucket === 1 && (diff.low.some(d => d !== 0) || diff.high.some(d => d !== 0))) fail("a difference to itself");
if (data.files[1]) {
  const other = new Track(data.files[1]), map = running(data.map), d = difference(track, other, map);
  for (let i = 0; i < track.count; i++) {
    const at = other.indexOf(map[i]);
    if (other.moment[at] !== map[i]) fail("the second file lacks the moment " + map[i]);
    if (!(d.low[i] <= track.total[i] - other.total[at] && d.high[i] >= track.total[i] - other.total[at])) fail("difference at " + i);
  }
}
console.log("equal: " + track.count + " of " + (rows.length + 1) + " moments, " + data.files.length + " file(s)");
