// The filters and the list of runs.

const PER_PAGE = 50;
const HASH = "#run=";
const FILTERS = ["text", "source", "agent", "outcome", "kind", "disagreement"];
const at = (id) => document.getElementById(id);

class RunList {
  /** `index` is prepared (browser_runs.js). */
  constructor(index) {
    this.index = index;
    this.form = at("filters");
    this.page = 0;
    this.wanted = this.initial();
    this.fillForm();
    this.listen();
    this.show();
  }

  /** The controls that narrow the list. */
  filters() {
    return FILTERS;
  }

  /** What is wanted before the reader has chosen anything. */
  initial() {
    const nothing = Object.fromEntries(this.filters().map((name) => [name, ""]));
    return { ...nothing, sort: "wrong", judge: this.index.judges.length ? 0 : null };
  }

  select() {
    return selectRuns(this.index, this.wanted);
  }

  listen() {
    this.form.text.addEventListener("input", () => this.changed());
    for (const select of this.form.querySelectorAll("select")) select.addEventListener("change", () => this.changed());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    at("reset").addEventListener("click", () => this.reset());
  }

  // The form

  fillForm() {
    const { index } = this;
    const numbered = (texts) => texts.map((text, number) => [String(number), text]);
    const outcomes = [...OUTCOMES].reverse().map(([label, word]) => [String(label), word]);
    const unknown = index.runs.outcome.includes(null) ? [["null", "unknown"]] : [];
    this.fill("judge", [...numbered(index.judges), ...(index.judges.length === 1 ? [] : [["", "Any judge"]])], null);
    this.fill("source", numbered(index.sources));
    this.fill("agent", numbered(index.agents));
    this.fill("outcome", [...outcomes, ...unknown]);
    this.fill("disagreement", [...DISAGREEMENTS]);
    this.fill("sort", [...ORDERS], null);
    this.fillKinds();
    this.form.judge.parentElement.hidden = !index.judges.length;
    this.writeForm();
  }

  /** Fills a select; a filter that cannot narrow anything is not shown. */
  fill(name, options, all = "All") {
    const choices = all === null ? options : [["", all], ...options];
    const select = this.form[name];
    select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
    select.parentElement.hidden = all !== null && options.length < 2;
  }

  /** The kinds that occur for the chosen judge, with their counts. */
  fillKinds() {
    const counts = [...kindCounts(this.index, this.wanted.judge)].filter(([, runs]) => runs);
    this.fill("kind", counts.map(([kind, runs]) => [kind, `${KINDS.get(kind)} (${runs.toLocaleString("en")})`]));
    if (!counts.some(([kind]) => kind === this.wanted.kind)) this.wanted.kind = "";
  }

  writeForm() {
    for (const [name, value] of Object.entries(this.wanted)) this.form[name].value = value === null ? "" : String(value);
  }

  readForm() {
    for (const name of Object.keys(this.wanted)) this.wanted[name] = this.form[name].value;
    this.wanted.judge = this.wanted.judge === "" ? null : Number(this.wanted.judge);
  }

  changed() {
    const { judge } = this.wanted;
    this.readForm();
    if (judge !== this.wanted.judge) {
      this.fillKinds();
      this.writeForm();
    }
    this.page = 0;
    this.show();
  }

  reset() {
    for (const name of this.filters()) this.form[name].value = "";
    this.changed();
  }

  chooseJudge(value) {
    this.form.judge.value = value;
    this.changed();
  }

  // The list

  show() {
    const filtered = this.filters().some((name) => this.wanted[name] !== "");
    this.found = this.select();
    const total = count(this.index.runs.key.length, "run");
    at("found").textContent = filtered ? `${this.found.length.toLocaleString("en")} of ${total}` : total;
    at("reset").hidden = !filtered;
    const start = this.page * PER_PAGE;
    const rows = this.found.slice(start, start + PER_PAGE).map((run) => make("li", {}, this.row(run)));
    at("runs").replaceChildren(...(rows.length ? rows : [make("li", { class: "none" }, "No run passes these filters.")]));
    this.showPages();
  }

  /** The address of a run on this page. */
  address(run) {
    return HASH + encodeURIComponent(this.index.runs.key[run]);
  }

  row(run) {
    const { runs, questions, sources, agents } = this.index;
    const facts = [sources[runs.source[run]], agents[runs.agent[run]], count(runs.steps[run], "step")].filter(Boolean);
    if (runs.disputed[run]) facts.push(`${runs.disputed[run]} disputed`);
    return make("a", { class: "run", href: this.address(run) },
      make("span", { class: "run-what" },
        make("span", { class: "run-key" }, runs.key[run]),
        make("span", { class: "run-question" }, (questions[runs.question[run]] ?? "").slice(0, 240)),
        make("span", { class: "run-facts" }, facts.map((fact) => make("span", {}, fact)))),
      make("span", { class: "run-strips" }, this.strips(run)),
      make("span", { class: "run-verdict" }, chip(runs.outcome[run], OUTCOMES, "unknown"), this.kindNote(run)));
  }

  strips(run) {
    const { runs, said, judges } = this.index;
    const { judge } = this.wanted;
    const gold = strip("Gold", runs.strip[run], runs, run, null);
    return judge === null ? [gold] : [gold, strip(judges[judge], said[judge].strip[run], runs, run, said[judge])];
  }

  kindNote(run) {
    const { said } = this.index;
    const { judge } = this.wanted;
    if (judge === null) {
      const right = said.filter((column) => column.kind[run] === "r").length;
      return said.length ? make("span", { class: "error-kind" }, `${right} of ${count(said.length, "judge")} right`) : null;
    }
    const kind = said[judge].kind[run];
    const wrong = said[judge].wrong[run];
    const steps = wrong && kind !== "n" ? make("span", { class: "quiet" }, `${count(wrong, "step")} wrong`) : null;
    return [make("span", { class: `error-kind kind-${kind}` }, KINDS.get(kind)), steps];
  }

  showPages() {
    const last = Math.max(0, Math.ceil(this.found.length / PER_PAGE) - 1);
    at("pages").hidden = last === 0;
    at("pages").replaceChildren(this.turn("← Back", this.page - 1, this.page > 0),
      make("span", {}, `Page ${this.page + 1} of ${last + 1}`), this.turn("More →", this.page + 1, this.page < last));
  }

  turn(text, page, possible) {
    const button = make("button", { type: "button", class: "plain", disabled: !possible }, text);
    button.addEventListener("click", () => {
      this.page = page;
      this.show();
      this.form.scrollIntoView({ block: "start" });
    });
    return button;
  }
}

/** A line of small squares: the labels of a run's first steps, those that differ from gold marked. */
function strip(name, signs, runs, run, said) {
  const labels = [...signs].map((sign) => ({ "+": 1, "0": 0, "-": -1 })[sign] ?? null);
  const gold = runs.strip[run];
  const first = (said ?? runs).first[run];
  const marks = labels.map((label, i) => {
    const wrong = said && label !== null && gold[i] !== "?" && gold[i] !== signs[i];
    return mark(label, `${i === first ? "first" : ""} ${wrong ? "wrong" : ""}`);
  });
  const more = runs.steps[run] - labels.length;
  return make("span", { class: "strip" }, make("span", { class: "strip-name" }, name),
    make("span", { class: "strip-marks" }, marks, more > 0 ? make("span", { class: "quiet" }, `+${more}`) : null));
}
