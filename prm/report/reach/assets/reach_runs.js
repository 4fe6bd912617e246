// The list of judged runs: filters, order, and a line for each run.

const STANDINGS = new Map([
  ["r", ["r", "reached"]], ["t", ["t", "touched only"]], ["m", ["m", "missed"]], ["-", ["n", "does not apply"]],
  ["?", ["u", "cannot be said"]],
]);
const WITHOUT_BREAK = new Map([[-1, "covered"], [-2, "a minefield was hit"], [-3, "cannot be said"]]);
const RUN_ORDERS = new Map([
  ["open", "Open milestones, most first"], ["longest", "Tool calls, most first"], ["shortest", "Tool calls, fewest first"],
  ["key", "Key"],
]);

/** A milestone's standing as one small square. */
function stand(letter, name) {
  const [tone, word] = STANDINGS.get(letter) ?? STANDINGS.get("?");
  return make("i", { class: `stand ${tone}`, title: `${name}: ${word}`, role: "img", "aria-label": `${name}: ${word}` });
}

/** Where a run's chain breaks, as a chip. */
function breakChip(index, broken) {
  if (broken === -1) return make("span", { class: "chip pos" }, "covered");
  if (broken === -3) return make("span", { class: "chip none" }, "cannot be said");
  return make("span", { class: "chip neg" }, broken === -2 ? "minefield" : `ends before ${index.milestones[broken]}`);
}

/** The index with what is computed once: the text that is searched and each run's place by key. */
function preparedRuns(index) {
  const { key, scenario } = index.runs;
  const searched = key.map((name, run) => `${name}\n${scenario[run]}`.toLowerCase());
  const byKey = [...key.keys()].sort((a, b) => naturally.compare(key[a], key[b]));
  const rank = new Array(key.length);
  byKey.forEach((run, place) => { rank[run] = place; });
  return { ...index, searched, rank, numberOf: new Map(key.map((name, run) => [name, run])) };
}

class ReachList extends RunList {
  filters() {
    return ["text", "arm", "broken", "found", "end"];
  }

  initial() {
    return { ...Object.fromEntries(this.filters().map((name) => [name, ""])), sort: "open" };
  }

  fillForm() {
    const { index } = this;
    const { broken, end } = index.runs;
    const breaks = [...new Set(broken)].sort((a, b) => (a < 0) - (b < 0) || a - b);
    this.fill("arm", index.arms.map((name, number) => [String(number), name]));
    this.fill("broken", breaks.map((number) => [String(number), this.breakName(number)]));
    this.fill("found", index.diagnoses.map(([, title], number) => [String(number), this.counted(title, number)]));
    this.fill("end", [...new Set(end)].sort().map((name) => [name || "unknown", name || "unknown"]));
    this.fill("sort", [...RUN_ORDERS], null);
    this.writeForm();
  }

  breakName(number) {
    const runs = this.index.runs.broken.filter((broken) => broken === number).length;
    const name = WITHOUT_BREAK.get(number) ?? this.index.milestones[number];
    return `${number < 0 ? `– ${name}` : name} (${runs.toLocaleString("en")})`;
  }

  counted(title, number) {
    const runs = this.index.runs.found.filter((found) => found.includes(number)).length;
    return `${title} (${runs.toLocaleString("en")})`;
  }

  readForm() {
    for (const name of Object.keys(this.wanted)) this.wanted[name] = this.form[name].value;
  }

  changed() {
    this.readForm();
    this.page = 0;
    this.show();
  }

  select() {
    const { runs, searched, rank } = this.index;
    const { text, arm, broken, found, end, sort } = this.wanted;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const passes = (run) => words.every((word) => searched[run].includes(word))
      && (arm === "" || runs.arm[run] === Number(arm))
      && (broken === "" || runs.broken[run] === Number(broken))
      && (found === "" || runs.found[run].includes(Number(found)))
      && (end === "" || (runs.end[run] || "unknown") === end);
    const size = {
      open: (run) => runs.open[run], longest: (run) => runs.calls[run], shortest: (run) => -runs.calls[run],
    }[sort] ?? (() => 0);
    return [...runs.key.keys()].filter(passes).sort((a, b) => size(b) - size(a) || rank[a] - rank[b]);
  }

  row(run) {
    const { runs, arms, milestones, diagnoses } = this.index;
    const facts = [arms[runs.arm[run]], count(runs.calls[run], "call"), runs.end[run] && `ended by ${runs.end[run]}`];
    const strip = [...runs.strip[run]].map((letter, i) => stand(letter, milestones[i]));
    const more = milestones.length - strip.length;
    const found = runs.found[run].map((number) => diagnoses[number][1]);
    const rest = found.length - 3;
    return make("a", { class: "run", href: this.address(run) },
      make("span", { class: "run-what" },
        make("span", { class: "run-key" }, runs.key[run]),
        make("span", { class: "run-facts" }, facts.filter(Boolean).map((fact) => make("span", {}, fact)))),
      make("span", { class: "run-stands" }, strip, more > 0 ? make("span", { class: "quiet" }, `+${more}`) : null),
      make("span", { class: "run-verdict" }, breakChip(this.index, runs.broken[run]),
        make("span", { class: "quiet" }, found.slice(0, 3).join(", ") + (rest > 0 ? ` and ${rest} more` : ""))));
  }
}
