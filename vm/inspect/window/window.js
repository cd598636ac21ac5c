// window.js: the page of `dynvm view`.  It draws what is in the block of data, which is the JSON of the tools
// (vm/inspect/REPORTS.md), and loads nothing.
//
// Invariants
//  1. Text of the program reaches the page as text only (textContent), never as HTML.
//  2. Of lists only the rows that are seen are drawn: a program of 10,000 lines has some 80,000.
//  3. Nothing is told by colour alone: each state has a mark, each heat a length.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties))
    if (key in element) element[key] = value; else element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
const figure = (number) => number.toLocaleString("en");
const times = (number) => figure(number) + (number === 1 ? " time" : " times");

// ---- The data, joined: functions, sites, lines, regions ---------------------------------------------------

const functions = data.listing.functions;
const sites = [];                  // instructions of all functions
const functionsOf = new Map();     // by name: several may have one
const lines = data.source.split(/\r\n|\r|\n/).map((text, i) => ({ number: i + 1, text, sites: [], notes: [], marks: [] }));
if (lines.length > 1 && !lines.at(-1).text) lines.pop();
const lineAt = (number) => lines[number - 1];

for (const f of functions) {
  f.sites = new Map();
  f.loops = [];
  f.executions = 0;
  functionsOf.set(f.function, [...(functionsOf.get(f.function) || []), f]);
  for (const site of f.instructions) {
    Object.assign(site, { f, index: sites.length, executions: 0, inRegions: 0, events: [], regions: [], quickens: false });
    sites.push(site);
    f.sites.set(site.pc, site);
    lineAt(site.line)?.sites.push(site);
  }
}

const lastLine = (f) => Math.max(f.line, ...f.instructions.slice(-1).map((site) => site.line));

// The function that a place is in, and its site there.
function functionOf(place) {
  const found = functionsOf.get(place.function) || [];
  if (found.length < 2) return found[0];
  return found.find((f) => f.sites.get(place.pc)?.line === place.line || f.line === place.line) ||
         found.find((f) => f.line <= place.line && place.line <= lastLine(f));
}
const siteOf = (place) => functionOf(place)?.sites.get(place.pc);

for (const count of data.counts.sites) {
  const site = siteOf(count);
  if (!site) continue;
  site.counts = count;
  site.quickens = count.quickens;
  site.executions = count.executions;
  site.inRegions = count.in_regions;
  site.f.executions += count.executions;
}
for (const reason of data.reasons.sites) {
  const site = siteOf(reason);
  if (site) site.why = reason;
  lineAt(reason.line)?.notes.push({ ...reason, title: `${reason.instruction} was slow ${times(reason.slow)}` });
}
for (const loop of data.reasons.loops || []) {
  const f = functionOf(loop);
  if (f) f.loops.push(loop);
  if (loop.reason) lineAt(loop.line)?.notes.push({ ...loop, title: loop.pc ? "the loop here" : "the function as a whole" });
}
for (const expression of data.reasons.expressions)
  lineAt(expression.line)?.marks.push(expression);

for (const { marks } of lines) marks.sort((a, b) => a.column - b.column || b.end_line - a.end_line || b.end_column - a.end_column);

// The listing of a region is text (`dynvm dis`): its cells, what they stand for, and where they leave.
const regionRows = [];
for (const f of functions) for (const region of f.regions || []) {
  const loop = f.loops.find((found) => found.pc === (region.whole ? 0 : region.end - 1));
  const steps = new Map(region.steps.map(({ cell, steps }) => [cell, steps]));
  const origins = region.origins.map((origin) => ({ cell: origin.cell, site: siteOf(origin) }));
  Object.assign(region, { f, loop, inside: new Set() });
  for (const site of f.instructions) if (site.pc >= region.begin && site.pc < region.end) region.inside.add(site);
  for (const { site } of origins) if (site && site.f !== f) region.inside.add(site); // of functions inlined
  for (const site of region.inside) site.regions.push(region);
  regionRows.push({ part: "title", region, text: `${f.function}: ${region.listing[0].trim()}` });
  let at = -1, paired = 0, executed = 0; // instructions that a pair further up does, too
  for (const line of region.listing.slice(1)) {
    const entry = /^\s*entry at (\d+):(.*)/.exec(line);
    if (entry) {
      for (const slot of entry[2].trim().split(" ").filter(Boolean)) regionRows.push({ part: "variable", region, ...variable(slot) });
      continue;
    }
    const cell = Number.parseInt(line, 10);
    while (at + 1 < origins.length && origins[at + 1].cell <= cell) at++;
    const exit = /R_EXIT to pc (\d+ of [^,]*)/.exec(line);
    if (paired) paired--;
    else executed = steps.get(cell) || 0, paired = (/ (\++)(?: |$)/.exec(line)?.[1] || "").length;
    regionRows.push({ part: exit ? "exit" : "cell", region, text: line.slice(4), site: exit ? exitSite(exit[1], f) : origins[at]?.site,
                      cell, executed, guard: !exit && /-> \d+/.test(line) });
  }
}

function exitSite(text, f) {
  const [pc, name] = text.split(" of ");
  return f.function.endsWith(name) ? f.sites.get(Number(pc)) : siteOf({ function: name, pc: Number(pc) });
}

// What an entry says of a variable: `s:int`, `i:int?`, `s91:range`.
function variable(text) {
  const [, name, kind, dead] = /^(.*):(.*?)(\??)$/.exec(text);
  const raw = ["int", "float", "bool", "complex"].includes(kind);
  const own = /^s-?\d+$/.test(name) ? `${name} (no variable)` : name;
  const where = raw ? `raw, in the frame's slot ${name}'` : "a boxed value, in the frame";
  return { text: `${own.padEnd(17)} ${kind.padEnd(8)} ${dead ? "stored to before it is read" : where}`, dead: Boolean(dead) };
}

// ---- Time: what each site is after so many events ---------------------------------------------------------

const events = data.log.events;
const loopEvents = new Set(["made", "refused", "entered", "left", "retired"]);
for (const [i, event] of events.entries()) {
  event.index = i + 1;
  event.f = functionOf(event);
  event.site = event.event === "warm" ? undefined : event.f?.sites.get(event.pc);
  event.site?.events.push(event);
}

const STATES = {
  cold: ["·", "generic, not warm"], plain: ["○", "generic"], waiting: ["◔", "looks for a derivative, or waits"],
  derived: ["●", "derivative"], region: ["■", "in a region"], lost: ["▲", "missed, given up or left"],
};
let now = events.length;   // events that have happened
let world;                 // what they led to

function happen(w, event) {
  if (event.event === "warm") return void w.warm.add(event.f);
  if (!event.site) return;
  const state = w.sites.get(event.site) || {};
  if (loopEvents.has(event.event)) {
    if (event.event === "made") state.region = true;
    if (event.event === "retired") state.region = false;
    state.lost = event.event === "retired" || (event.event === "left" && event.reason !== "end");
  } else {
    if (event.event === "quickened") state.form = event.form;
    if (event.event === "covered") state.form = "(done by the instruction in front)";
    if (event.event === "backed-off" || event.event === "generic") state.form = null;
    state.lost = event.event === "missed" || event.event === "backed-off" || event.event === "generic";
  }
  w.sites.set(event.site, state);
}

function worldAt(time) {
  const w = { sites: new Map(), warm: new Set(), loops: [], ended: time === events.length };
  for (const event of events.slice(0, time)) happen(w, event);
  for (const [site, state] of w.sites)
    if (state.region) w.loops.push([site.f, /to (\d+)/.exec(site.operands) && site.pc ? Number(/to (\d+)/.exec(site.operands)[1]) : 0,
                                    site.pc || Infinity]);
  return w;
}

// What stands at the site: the listing says it of the end, the log of the time before.
function formAt(site) {
  if (world.ended) return { form: site.kind === "adaptive" ? null : site.form, waits: site.kind === "adaptive" && !site.covered };
  const state = world.sites.get(site);
  return { form: state?.form, waits: world.warm.has(site.f) && site.quickens && !state?.form };
}

function inRegion(site) {
  if (world.ended) return site.regions.some((region) => !region.retired);
  return world.loops.some(([f, begin, end]) => f === site.f && begin <= site.pc && site.pc <= end);
}

function stateAt(site) {
  const { form, waits } = formAt(site), warm = world.ended ? site.f.state === "warm" : world.warm.has(site.f);
  const state = world.sites.get(site);
  if (inRegion(site)) return "region";
  if (world.ended ? site.why : state?.lost) return "lost";
  if (world.ended && site.covered) return "derived";      // by the form in front
  if (form && site.instruction !== "JUMP_BACK") return "derived"; // which is one where it enters a region alone
  return !warm ? "cold" : waits ? "waiting" : "plain";
}

// Of a line: what matters most of what its instructions are.
function stateOfLine(line) {
  const states = new Set(line.sites.map(stateAt));
  return ["lost", "region", "waiting", "derived", "plain", "cold"].find((state) => states.has(state) &&
    !(state === "waiting" && !line.sites.some((site) => stateAt(site) === "waiting" && site.executions > 16)));
}

function told(event) {
  const where = event.instruction ? `${event.instruction} at ${event.pc}` : event.pc ? `the loop in line ${event.line}` : event.function;
  const what = {
    warm: "is warm: its sites look at what they meet", quickened: `takes ${event.form}`, missed: "misses: its guard failed",
    "backed-off": (event.form ? `gives ${event.form} up` : "finds no derivative") + (event.waits ? `, waits ${event.waits} executions` : ""),
    covered: "is done by the instruction in front", generic: "stays generic for good",
    made: "has a region now", refused: `gets no region: ${event.reason}`, entered: "enters its region",
    left: `leaves its region: ${event.reason}` + (event.to ? `, goes on in line ${event.to.line}` : ""), retired: `loses its region: ${event.reason}`,
  }[event.event];
  return `${where} ${what}` + (event.operands ? ` (${event.operands})` : "") + (event.number > 1 ? `, number ${figure(event.number)}` : "");
}

// ---- Lists: only what is seen is drawn --------------------------------------------------------------------

const ROW = 20;

class List {
  constructor(id, rows, draw) {
    Object.assign(this, { element: $(id), rows, draw, at: -1, drawn: new Map() });
    this.inner = this.element.appendChild(make("div", { className: "rows" }));
    this.inner.style.height = `${Math.max(rows.length, 1) * ROW}px`;
    this.element.addEventListener("scroll", () => this.show());
    this.element.addEventListener("keydown", (event) => this.key(event));
    for (const [type, act] of [["mousemove", point], ["click", choose]])
      this.element.addEventListener(type, (event) => {
        const row = event.target.closest?.(".row");
        if (row) act(this, Number(row.dataset.row));
      });
    this.element.addEventListener("mouseleave", () => point(null));
  }
  clear() {
    this.inner.replaceChildren();
    this.drawn.clear();
    this.show();
  }
  show() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - 10);
    const last = Math.min(this.rows.length, first + Math.ceil(this.element.clientHeight / ROW) + 20);
    for (const [i, row] of this.drawn) if (i < first || i >= last) row.remove(), this.drawn.delete(i);
    for (let i = first; i < last; i++) {
      if (this.drawn.has(i)) continue;
      const row = this.draw(this.rows[i]);
      row.className += " row";
      Object.assign(row, { id: `${this.element.id}-${i}`, role: "option" });
      row.dataset.row = i;
      row.style.top = `${i * ROW}px`;
      this.drawn.set(i, this.inner.appendChild(row));
    }
    this.light();
  }
  light() {
    for (const [i, row] of this.drawn) {
      row.classList.toggle("lit", isLit(this.rows[i]));
      row.classList.toggle("chosen", i === this.at);
      row.setAttribute("aria-selected", i === this.at);
    }
  }
  reveal(i) {
    if (i < 0) return;
    const top = i * ROW, { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + ROW > scrollTop + clientHeight) this.element.scrollTop = Math.max(0, top - clientHeight / 3);
  }
  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in moves) || !this.rows.length) return;
    event.preventDefault();
    choose(this, Math.min(this.rows.length - 1, Math.max(0, this.at + moves[event.key])));
  }
}

// ---- Links: what is pointed at, and what is chosen, lights up everywhere ----------------------------------

let chosen = null;         // a row
const lit = { sites: new Set(), lines: new Set() };

function lightUp(row) {
  lit.sites = new Set(row ? sitesOf(row) : []);
  lit.lines = new Set([...lit.sites].map((site) => site.line));
  if (row?.number) lit.lines.add(row.number);
  for (const list of lists) list.light();
}
function sitesOf(row) {
  if (row.sites && row.number) return row.sites;           // a line
  if (row.pc !== undefined && row.f) return [row];         // an instruction
  if (row.f) return row.f.instructions;                    // the title of a function
  if (row.part === "title" || row.part === "variable") return row.region.inside;
  return row.site ? [row.site] : [];
}
function isLit(row) {
  if (row.number) return lit.lines.has(row.number);
  if (row.part) return row.part !== "title" && row.part !== "variable" && lit.sites.has(row.site);
  return row.pc !== undefined && lit.sites.has(row);
}
function point(list, i) {
  const row = list ? list.rows[i] : chosen;
  if (row !== point.last) lightUp(point.last = row);
}
function choose(list, i) {
  chosen = point.last = list.rows[i];
  for (const other of lists) if (other !== list) other.at = -1;
  list.at = i;
  list.element.setAttribute("aria-activedescendant", `${list.element.id}-${i}`);
  list.reveal(i);
  lightUp(chosen);
  for (const other of lists) if (other !== list) other.reveal(other.rows.findIndex(isLit));
  for (const other of lists) other.show();
  setScope(chosen);
  showDetails(chosen);
}
function chooseSite(site) {
  choose(codeList, codeRows.indexOf(site));
  showTab("code");
}

// ---- The three lists --------------------------------------------------------------------------------------

const hottest = Math.max(1, ...sites.map((site) => site.executions + site.inRegions));
function heat(count) {
  const bar = make("span", { className: "heat", title: count ? `executed ${times(count)}` : "not executed" });
  if (count) bar.append(make("i", { style: `width: ${Math.max(2, 26 * Math.log(count + 1) / Math.log(hottest + 1))}px` }));
  return bar;
}
function mark(state) {
  return make("span", { className: `mark s-${state}`, title: state ? STATES[state][1] : "" }, state ? STATES[state][0] : "");
}

// Columns of the tools count bytes of UTF-8, from 1.
function columnAt(text, column) {
  let bytes = 1, i = 0;
  for (const character of text) {
    if (bytes >= column) break;
    bytes += new TextEncoder().encode(character).length;
    i += character.length;
  }
  return i;
}
function extentOf(line, found) {
  return [columnAt(line.text, found.column), found.end_line === line.number ? columnAt(line.text, found.end_column) : line.text.length];
}
// Of expressions within others the outer ones are marked.
function drawText(line) {
  const text = make("span");
  let at = 0;
  for (const found of line.marks) {
    const [begin, end] = extentOf(line, found);
    if (begin < at || end <= begin) continue;
    text.append(line.text.slice(at, begin), make("span", { className: found.fused ? "fused" : "unfused",
      title: found.fused ? `one instruction: ${found.fused}` : `one operation at a time: ${found.reason}` }, line.text.slice(begin, end)));
    at = end;
  }
  text.append(line.text.slice(at));
  return text;
}
function drawLine(line) {
  const count = Math.max(0, ...line.sites.map((site) => site.executions + site.inRegions));
  const notes = [...new Set(line.notes.map((note) => note.reason))].join(", ");
  return make("div", {}, make("span", { className: "number" }, String(line.number)), heat(count),
              mark(line.sites.length ? stateOfLine(line) : ""), drawText(line),
              notes && make("span", { className: "note", title: line.notes.map((note) => note.sentence).join("\n") }, `⚠ ${notes}`));
}

const codeRows = functions.flatMap((f) => [{ f }, ...f.instructions]);
// Brackets around what one form does.
for (const f of functions) {
  let left = 0;
  for (const site of f.instructions) {
    if (left) site.bracket = --left ? "│" : "╰", site.covered = true;
    else if (site.covers > 1) site.bracket = "╭", left = site.covers - 1;
  }
}
function drawCode(row) {
  if (row.pc === undefined)
    return make("div", { className: "title" }, ` ${row.f.function}, line ${row.f.line}`,
                make("span", { className: "count" }, row.f.state === "not run" ? "not run" : `${row.f.state}, ${figure(row.f.executions)} executions`));
  const state = stateAt(row), { form, waits } = formAt(row);
  const counts = row.counts, name = form || (waits && row.quickens ? "looks" : "");
  const details = counts ? [figure(row.executions), row.inRegions && `■${figure(row.inRegions)}`,
                            counts.misses && `▲${figure(counts.misses)}`].filter(Boolean).join(" ") : "";
  const words = counts ? `executed ${times(row.executions)}, in regions ${times(row.inRegions)}, missed ${times(counts.misses)}` : "";
  return make("div", {}, make("span", { className: "number" }, String(row.pc)), heat(row.executions + row.inRegions), mark(state),
              make("span", { className: "generic", title: `${row.instruction} ${row.operands}` },
                   `${row.target ? "» " : "  "}${row.instruction} ${row.operands}`),
              make("span", { className: "bracket" }, world.ended && row.bracket || ""),
              make("span", { className: `form s-${state}` }, name), make("span", { className: "count", title: words }, details));
}

function drawRegion(row) {
  const gone = row.region.retired || !world.ended && ![...row.region.inside].some(inRegion);
  if (row.part === "title") return make("div", { className: "title" }, ` ${row.text}`);
  if (row.part === "variable")
    return make("div", { className: row.dead ? "dead" : "" }, make("span", { className: "number" }, "knows"),
                make("span", { className: "mark s-region" }, "◆"), row.text);
  const isExit = row.part === "exit";
  return make("div", { className: gone ? "dead" : "" }, heat(row.executed),
              make("span", { className: `mark ${isExit ? "s-lost" : "s-region"}`, title: isExit ? "an exit" : row.guard ? "a guard" : "" },
                   isExit ? "↪" : row.guard ? "?" : ""),
              row.text, isExit ? make("span", { className: "count" }, `taken ${times(row.executed)}`) : "");
}

// ---- Details ----------------------------------------------------------------------------------------------

function table(rows, head) {
  const body = rows.map((row) => make("tr", {}, ...row.map((cell) =>
    make("td", { className: typeof cell === "number" ? "n" : "" }, typeof cell === "number" ? figure(cell) : cell))));
  if (head) body.unshift(make("tr", {}, ...head.map((cell) => make("th", {}, cell))));
  return make("table", {}, ...body);
}
const part = (title, ...content) => make("div", {}, make("h3", {}, title), ...content);
const columns = (...parts) => make("div", { className: "columns" }, ...parts.filter(Boolean));
const link = (text, act) => make("button", { type: "button", onclick: act }, text);
const unlike = (notes) => [...new Map(notes.map((note) => [note.title + note.sentence, note])).values()];
const whyPart = (notes) => notes.length && part("Why it is slow", ...unlike(notes).map((note) => make("div", { className: "why" },
  make("p", {}, `${note.title}: ${note.sentence}.`), make("p", {}, `To do: ${note.advice}.`))));
const historyPart = (list) => list.length && part("What happened", table(list.slice(0, 60).map((event) =>
  [event.step, link(told(event), () => setTime(event.index))]), ["step", ""]));

function cacheWords(site) {
  return (site.cache || []).map((entry) => Object.entries(entry).map(([key, value]) => `${key} ${value}`).join(", ")).join("; ");
}
function siteDetails(site) {
  const counts = site.counts || {}, named = data.listing.where?.[site.as || site.form] || data.listing.where?.[site.instruction];
  const facts = [
    ["now", site.form ? `${site.form} (${[site.tier, site.kind].filter(Boolean).join(" ")})` : "the generic instruction"],
    site.covers > 1 && ["does", `the work of ${site.covers} instructions, from this one on`],
    site.cache?.length && ["its cache", cacheWords(site)], site.saw?.length && ["saw results", site.saw.join(", ")],
    site.reason && ["no derivative", site.reason], site.backoff && ["back-off", String(site.backoff)],
    named?.block && ["defined at", named.block], named?.chooser && ["chosen by", `${named.chooser} (${named.chooser_at})`],
  ].filter(Boolean);
  const names = ["executions", "hits", "misses", "generic", "inside", "in_regions", "deoptimisations"];
  return columns(
    part(`${site.instruction} ${site.operands} at ${site.pc} of ${site.f.function}, line ${site.line}`, table(facts)),
    site.counts && part("Counted", table(names.filter((name) => counts[name]).map((name) => [name.replace("_", " "), counts[name]]))),
    counts.types?.length && part("Types that it met", table([...counts.types.map((seen) => [seen.operands.join(", "), seen.executions]),
                                                            ...(counts.other_types ? [["others", counts.other_types]] : [])])),
    site.why && whyPart([{ ...site.why, title: `slow ${times(site.why.slow)}` }]), historyPart(site.events));
}
function lineDetails(line) {
  const all = line.sites.flatMap((site) => site.events).sort((a, b) => a.index - b.index);
  return columns(
    part(`Line ${line.number}`, make("p", {}, make("code", {}, line.text.trim())),
         line.sites.length ? "" : make("p", {}, "There is no code here.")),
    line.marks.length && part("Expressions on arrays", ...line.marks.map((found) => make("p", {},
      make("code", {}, line.text.slice(...extentOf(line, found))), `, ${times(found.executions)}: `,
      found.fused ? `one instruction, ${found.fused}` : `one operation at a time, as ${found.reason}`))),
    whyPart(line.notes),
    line.sites.length && part("Its instructions", table(line.sites.filter((site) => site.executions).map((site) => [
      make("span", { className: `s-${stateAt(site)}` }, STATES[stateAt(site)][0]), link(site.instruction, () => chooseSite(site)),
      site.form || "", site.executions, site.inRegions]), ["", "", "now", "executed", "in regions"])),
    historyPart(all));
}
function regionDetails(row) {
  const { region } = row, { loop } = region;
  const known = regionRows.filter((other) => other.region === region && other.part === "variable");
  const guards = regionRows.filter((other) => other.region === region && other.guard).length;
  return columns(
    part(row.text.trim(), table([
      ["loop", region.whole ? `the whole of ${region.f.function}` : `pcs ${region.begin} to ${region.end - 1} of ${region.f.function}`],
      ["cells", region.cells], ["guards", guards], ["exits", region.exits], ["objects it does without", `at ${region.removed} places`],
      ...(loop ? [["entered", loop.entries], ["left", loop.exits], ["left by guards", loop.guards], ["given up before", loop.lost]] : []),
      ...(row.part === "exit" ? [["this exit", `taken ${times(row.executed)}`]] : [])])),
    part("What it knows where it is entered", ...known.map((other) => make("p", {}, make("code", {}, other.text)))),
    loop?.left.length && part("Where it was left to", table(loop.left.map((left) =>
      [left.failed ? "a guard, or a new way" : "its end", `pc ${left.pc}, line ${left.line} of ${left.function}`, left.exits]))),
    row.site && part("Stands for", link(`${row.site.instruction} ${row.site.operands} at ${row.site.pc}, line ${row.site.line}`, () => chooseSite(row.site))));
}
function functionDetails(f) {
  return columns(part(f.function, table([["state", f.state || ""], ["executions", f.executions], ["regions", (f.regions || []).length]])),
                 whyPart(f.loops.filter((loop) => loop.reason).map((loop) => ({ ...loop, title: loop.pc ? `the loop in line ${loop.line}` : "as a whole" }))),
                 historyPart(events.filter((event) => event.f === f)));
}
const share = (part, whole) => whole ? `${(100 * part / whole).toFixed(1)}%` : "0%";
function overview() {
  const { totals, regions, objects, guards } = data.counts;
  const hot = lines.map((line) => ({ line, count: Math.max(0, ...line.sites.map((site) => site.executions + site.inRegions)) }))
    .filter(({ count }) => count).sort((a, b) => b.count - a.count).slice(0, 8);
  const slow = lines.filter((line) => line.notes.length);
  const dropped = Object.entries(data.log.dropped).filter(([, count]) => count).map(([kind, count]) => `${figure(count)} ${kind}`);
  const toLine = (line) => link(`${line.number}: ${line.text.trim().slice(0, 60)}`, () => choose(sourceList, line.number - 1));
  return columns(
    part("How to read this", make("p", { className: "narrow" }, "Point at a line, an instruction or a cell: what belongs to it lights up. Click it: here it says more, and why. " +
      "Bars and numbers: how often it was executed (bars by logarithm); ■ in regions, ▲ misses; ⚠ stayed slow. " +
      "Arrow keys move, Tab goes to the next panel, [ and ] to the event before and after.")),
    part("Slow, and why", slow.length ? table(slow.slice(0, 12).map((line) => [toLine(line), [...new Set(line.notes.map((note) => note.sentence))].join("; ")]))
                                      : make("p", {}, "Nothing that was hot stayed slow.")),
    part("Hottest lines", table(hot.map(({ line, count }) => [toLine(line), count]))),
    part("In short", table([
      ["executions of instructions", totals.executions], ["by derivatives", share(totals.hits, totals.executions)],
      ["missed", totals.misses], ["steps in regions", share(totals.region, totals.steps)],
      ["regions made", regions.made], ["entered", regions.entries],
      ...Object.entries(regions.exits).filter(([, count]) => count).map(([why, count]) => [`left: ${why}`, count]),
      ["guards executed, failed", `${figure(guards.executed)}, ${figure(guards.failed)}`]])),
    part("Objects", table(objects.filter(({ made, removed }) => made + removed).map(({ kind, made, removed }) => [kind, made, removed]), ["", "made", "never made"])),
    dropped.length && part("Events", make("p", {}, `Only counted: ${dropped.join(", ")}.`)));
}
function showDetails(row) {
  const shown = !row ? overview() : row.number ? lineDetails(row) : row.part ? regionDetails(row)
              : row.pc !== undefined ? siteDetails(row) : functionDetails(row.f);
  $("details").replaceChildren(shown);
  $("details").scrollTop = 0;
}

// ---- The slider -------------------------------------------------------------------------------------------

let scope = events;        // the events that it goes through

function setScope(row) {
  const own = row ? new Set([...sitesOf(row)].flatMap((site) => site.events)) : new Set();
  const name = !row ? "" : row.number ? `line ${row.number}` : row.part ? "this region" : row.pc !== undefined ? `${row.instruction} at ${row.pc}` : row.f.function;
  const wanted = $("scope").value;
  $("scope").replaceChildren(make("option", { value: "all" }, "the whole program"));
  if (own.size) $("scope").append(make("option", { value: "own" }, `${name} (${own.size})`));
  $("scope").own = [...own].sort((a, b) => a.index - b.index);
  $("scope").value = own.size ? wanted : "all";
  useScope();
}
function useScope() {
  scope = $("scope").value === "own" ? $("scope").own : events;
  $("slider").max = scope.length;
  drawTime();
  drawTicks();
}
// The slider stands at how many events of its scope have happened.
function drawTime() {
  const passed = scope.filter((event) => event.index <= now).length, event = scope[passed - 1];
  $("slider").value = passed;
  const text = !event ? "before the first event" : `step ${figure(event.step)}: ${told(event)}`;
  $("moment").textContent = `${passed} of ${scope.length}. ${text}` + (now === events.length && scope === events ? ". The end is shown" : "");
  $("moment").title = text;
  $("slider").setAttribute("aria-valuetext", text);
}
function setTime(time) {
  now = Math.min(events.length, Math.max(0, time));
  world = worldAt(now);
  drawTime();
  for (const list of lists) list.clear();
}
function step(by) {
  const passed = scope.filter((event) => event.index <= now).length;
  slideTo(Math.min(scope.length, Math.max(0, passed + by)));
}
function slideTo(passed) {
  const event = scope[passed - 1];
  setTime(passed === scope.length ? events.length : event ? event.index : 0);
  if (event?.site && event.f) {
    lightUp(event.site);
    for (const list of lists) list.reveal(list.rows.findIndex(isLit));
  }
}
function drawTicks() {
  const canvas = $("ticks"), width = canvas.width = Math.max(1, canvas.clientWidth), colour = getComputedStyle(document.documentElement);
  const kinds = { warm: [18, "--plain"], quickened: [12, "--derived"], covered: [12, "--derived"], made: [18, "--in-region"], entered: [9, "--in-region"] };
  const context = canvas.getContext("2d");
  for (const [i, event] of scope.entries()) {
    const [height, name] = kinds[event.event] || [6, "--lost"];
    context.fillStyle = colour.getPropertyValue(name);
    context.fillRect(8 + (width - 18) * (i + 1) / Math.max(1, scope.length), 18 - height, 2, height);
  }
}

// ---- Steps of one function, where they were recorded -------------------------------------------------------

const steps = data.steps?.kept || [];
let stepAt = 0;
const PHASES = {
  cold: "not warm: the instructions as the compiler made them", warm: "warm: instructions look at what they meet, and take derivatives",
  region: "in a region: raw values in slots", exit: "leaving a region: what is raw is put into boxes", behind: "warm, behind its first region",
};
for (const step of steps) {
  step.f = functionOf(step);
  step.site = step.f?.sites.get(step.pc);
  step.row = step.text ? regionRows.findIndex((row) => row.cell === step.cell && row.text.includes(step.text.split(";")[0])) : -1;
}

// What was told of the same frame before; locals by name, the stack by place.
function stepBefore(i) {
  for (let k = i - 1; k >= 0; k--) if (steps[k].frame === steps[i].frame && steps[k].locals) return steps[k];
  return {};
}
function stepTable(entries, before, label) {
  const rows = entries.map(([name, value, kind, where], i) => {
    const old = before?.[i], changed = before && (!old || old[1] !== value || old[3].startsWith("raw") !== where.startsWith("raw"));
    return { changed, cells: [label(name, i), make("code", {}, value), kind, where, !changed ? "" : old ? `◀ was ${old[1]}` : "◀ new"] };
  });
  const made = table(rows.map(({ cells }) => cells), ["", "value", "kind", "where", "changed"]);
  for (const [i, { changed }] of rows.entries()) made.children[i + 1].classList.toggle("changed", Boolean(changed));
  return made;
}
function stepDetails(i) {
  const step = steps[i], { site } = step, before = stepBefore(i), known = step.locals && before.locals;
  const done = step.text || (step.form === site?.instruction ? "the generic instruction" : step.form);
  const stack = (step.stack || []).map((entry, k) => [entry, before.stack?.[k]]).reverse();
  const inlined = step.function && step.function !== data.steps.function && !step.function.endsWith("." + data.steps.function);
  const gap = i ? step.step - steps[i - 1].step - 1 : 0;
  const shown = columns(
    part((step.phase === "exit" ? "On the way to " : "") + (site ? `${site.instruction} ${site.operands} at ${site.pc}, line ${site.line}` : step.form), table([
      ["done by", make("code", {}, done)], ["phase", PHASES[step.phase]], inlined && ["of", `${step.function}, which is inlined`],
      gap > 0 && ["not shown in front", `${figure(gap)} steps, of other functions or alike`]].filter(Boolean))),
    part("Locals, before it", step.locals ? stepTable(step.locals, known && before.locals, (name) => name) : make("p", {}, "Not known here.")),
    part("Operand stack, before it", stack.length ? stepTable(stack.map(([entry]) => entry), known && stack.map(([, old]) => old),
                                                              (_, k) => k ? "" : "top") : make("p", {}, step.locals ? "Empty." : "Not known here.")));
  shown.className += " steps";
  return shown;
}
function goStep(i) {
  const step = steps[stepAt = Math.min(steps.length - 1, Math.max(0, i))];
  setTime(events.filter((event) => event.step < step.step).length);
  chosen = point.last = step.site || null;
  sourceList.at = step.line ? step.line - 1 : -1;
  codeList.at = step.site ? codeRows.indexOf(step.site) : -1;
  regionList.at = step.row;
  lightUp(chosen);
  for (const list of lists) list.reveal(list.at), list.show();
  $("step").value = stepAt + 1;
  $("step-text").textContent = `${stepAt + 1} of ${steps.length}, ${PHASES[step.phase]}`;
  $("step").setAttribute("aria-valuetext", `${step.text || step.form}, ${$("step-text").textContent}`);
  $("details").replaceChildren(stepDetails(stepAt));
}

// ---- The start --------------------------------------------------------------------------------------------

world = worldAt(now);
const lists = [];
const sourceList = new List("source", lines, drawLine);
const codeList = new List("code", codeRows, drawCode);
const regionList = new List("region", regionRows, drawRegion);
lists.push(sourceList, codeList, regionList);

function showTab(name) {
  for (const panel of document.querySelectorAll(".panel")) panel.classList.toggle("shown", panel.dataset.panel === name);
  for (const button of $("tabs").children) button.setAttribute("aria-pressed", button.dataset.tab === name);
  for (const list of lists) list.show();
}
for (const panel of document.querySelectorAll(".panel")) {
  const name = panel.dataset.panel, title = name[0].toUpperCase() + name.slice(1);
  const button = make("button", { type: "button", onclick: () => showTab(name) }, title);
  button.dataset.tab = name;
  $("tabs").append(button);
}

document.title = `${data.name} - dynvm view`;
$("name").textContent = data.name;
$("summary").textContent = `level ${data.counts.level}, ${figure(data.counts.totals.executions)} executions, ` +
  `${share(data.counts.totals.hits, data.counts.totals.executions)} by derivatives, ${share(data.counts.totals.region, data.counts.totals.steps)} of all steps in regions`;
for (const [state, [glyph, words]] of Object.entries(STATES))
  $("legend").append(make("li", {}, make("span", { className: `s-${state}` }, glyph), ` ${words}`));
if (!regionRows.length) $("region").append(make("p", { className: "count" }, "No loop has a region now. Where one was tried, ⚠ in the source says why there is none."));

const theme = (name) => { document.documentElement.dataset.theme = name; drawTicks(); };
const dark = matchMedia("(prefers-color-scheme: dark)");
$("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
$("overview").onclick = () => { showDetails(chosen = null); showTab("details"); lightUp(null); };
$("scope").onchange = useScope;
$("slider").oninput = () => slideTo(Number($("slider").value));
$("before").onclick = () => step(-1);
$("after").onclick = () => step(1);
addEventListener("keydown", (event) => {
  if (event.key === "[") step(-1);
  if (event.key === "]") step(1);
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by && steps.length && !event.target.matches?.("input, select")) event.preventDefault(), goStep(stepAt + by);
});
addEventListener("resize", () => { drawTicks(); for (const list of lists) list.show(); });

theme(dark.matches ? "dark" : "light");
showTab("source");
setScope(null);
showDetails(null);
// The hottest code comes into sight.
const hot = sites.find((site) => site.executions + site.inRegions === hottest);
if (hot) for (const [list, row] of [[codeList, hot], [sourceList, lineAt(hot.line)], [regionList, regionRows.find((other) => other.site === hot)]])
  if (row) list.reveal(list.rows.indexOf(row));
if (data.steps) {
  $("steps").hidden = false;
  $("stepped").textContent = data.steps.function;
  $("step").max = steps.length;
  $("step").oninput = () => goStep(Number($("step").value) - 1);
  $("step-before").onclick = () => goStep(stepAt - 1);
  $("step-after").onclick = () => goStep(stepAt + 1);
  if (steps.length) goStep(0);
  else $("step-text").textContent = "No function of this name has run.";
}
