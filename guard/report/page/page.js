
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const one = (id) => document.getElementById(id);
  const SEVERITIES = ["error", "warning", "note"];
  const TREES = ["base", "ours", "theirs", "merged"];
  const PAGE = 60;
  const MOST_TOKENS = 1500;

  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // guard's own sentences have code between backticks
  const prose = (element, text) => {
    text.split(/`([^`]+)`/).forEach((part, index) => element.append(index % 2 ? make("code", "", part) : part));
    return element;
  };

  // --- which tokens of two texts differ: longest common subsequence, after equal starts and ends are set aside
  const tokens = (text) => text.match(/\w+|[^\S\n]+|\n|[^\w\s]/gu) || [];
  const differing = (left, right) => {
    const a = tokens(left), b = tokens(right);
    let start = 0, end = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start++;
    while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
    const kept = new Array(a.length).fill(true), same = new Array(b.length).fill(true);
    x.forEach((_, i) => { kept[start + i] = false; });
    y.forEach((_, j) => { same[start + j] = false; });
    if (x.length && y.length && x.length * y.length <= MOST_TOKENS * MOST_TOKENS) {
      const wide = y.length + 1;
      const best = new Uint16Array((x.length + 1) * wide);
      for (let i = x.length - 1; i >= 0; i--) {
        for (let j = y.length - 1; j >= 0; j--) {
          best[i * wide + j] = x[i] === y[j]
            ? best[(i + 1) * wide + j + 1] + 1
            : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
        }
      }
      let i = 0, j = 0;
      while (i < x.length && j < y.length) {
        if (x[i] === y[j]) { kept[start + i++] = true; same[start + j++] = true; }
        else if (best[(i + 1) * wide + j] >= best[i * wide + j + 1]) i++;
        else j++;
      }
    }
    return [a, kept, b, same];
  };

  const pieces = (words, equal) => {
    const pre = make("pre");
    let run = "", marked = false;
    const flush = () => {
      if (!run) return;
      pre.append(marked ? make("mark", "", run) : document.createTextNode(run));
      run = "";
    };
    words.forEach((word, index) => {
      // Line ends and indentation are moved by every other edit; marked, they would only make noise.
      const indent = (index === 0 || words[index - 1] === "\n") && word.trim() === "";
      const differs = !equal[index] && word !== "\n" && !indent;
      if (differs !== marked) { flush(); marked = differs; }
      run += word;
    });
    flush();
    return pre;
  };

  const fourTrees = (finding) => {
    const box = make("div", "trees");
    const merged = finding.e[3];
    // merged is marked against the side that lost, so that its marks are what took the lost tokens' place
    const side = finding.d === "ours" ? 1 : 2;
    TREES.forEach((tree, index) => {
      const panel = make("div", `tree ${tree}`);
      const title = make("h4", "", tree === finding.d ? `${tree} (lost side)` : tree);
      const commit = data.trees[finding.g]?.[index];
      if (commit) title.title = commit;
      panel.append(title);
      const text = finding.e[index];
      if (text === null) {
        const pre = make("pre");
        pre.append(make("span", "nothing", "nothing here"));
        panel.append(pre);
      } else {
        const other = index === 3 ? finding.e[side] : merged;
        if (other === null) panel.append(make("pre", "", text));
        else {
          const [words, kept] = differing(text, other);
          panel.append(pieces(words, kept));
        }
      }
      panel.querySelector("pre").tabIndex = 0;
      box.append(panel);
    });
    return box;
  };

  // --- what a person decided: kept in this browser, by the syncs that the report is of
  const STATES = ["open", "mine", "done", "accepted"];
  const storage = (() => { try { return window.localStorage; } catch { return null; } })();
  const storeKey = `guard-decisions ${data.store}`;
  let decisions = {};
  const load = () => {
    try { decisions = JSON.parse(storage?.getItem(storeKey) || "{}") || {}; } catch { decisions = {}; }
  };
  load();
  const stateOf = (finding) => decisions[finding.f]?.[0] || "open";
  const decide = (finding, state, reason) => {
    if (state === "open") delete decisions[finding.f];
    else decisions[finding.f] = [state, reason ?? decisions[finding.f]?.[1] ?? ""];
    try { storage?.setItem(storeKey, JSON.stringify(decisions)); } catch { /* full or refused: kept for this visit */ }
    for (const details of document.querySelectorAll(`details.item[data-mark="${finding.f}"]`)) shown(details, finding);
    if (!one("exported").hidden) writeLines();
  };
  const shown = (details, finding) => {
    const state = stateOf(finding);
    details.dataset.state = state;
    details.querySelector(".state").textContent = state === "open" ? "" : state;
    const chooser = details.querySelector("select.decide");
    if (chooser) chooser.value = state;
    const why = details.querySelector("input.why");
    if (why) why.hidden = state === "open";
  };
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const writeLines = () => {
    const lines = [];
    for (const finding of all) {
      const state = stateOf(finding), reason = (decisions[finding.f]?.[1] || "").trim();
      if (state === "accepted") lines.push(`guard accept ${finding.f} --reason ${quoted(reason || "accepted in review")}`);
      else if (state !== "open") lines.push(`# ${state}: ${finding.f} ${finding.c} ${finding.p}${reason ? `: ${reason}` : ""}`);
    }
    one("lines").value = lines.length ? `${[...new Set(lines)].join("\n")}\n` : "# nothing is decided yet\n";
  };

  const copy = async (text, button) => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page opened from disk has no clipboard of its own: an old command still works there.
      const area = make("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
    button.focus();
  };
  const copyable = (text, label) => {
    const button = make("button", "copy", "Copy");
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => copy(text, button));
    return button;
  };

  const deciding = (finding) => {
    const line = make("p", "deciding");
    const label = make("label", "", "Decision ");
    const chooser = make("select", "decide");
    for (const state of STATES) chooser.append(make("option", "", state));
    label.append(chooser);
    const why = make("input", "why");
    why.type = "text";
    why.placeholder = "why, for guard accept";
    why.setAttribute("aria-label", "Why");
    why.value = decisions[finding.f]?.[1] || "";
    chooser.addEventListener("change", () => decide(finding, chooser.value));
    why.addEventListener("input", () => decide(finding, chooser.value, why.value));
    line.append(label, " ", why);
    return line;
  };

  const inside = (finding) => {
    const box = make("div", "inside");
    const rule = data.rules[finding.c];
    box.append(make("p", "meta", `${finding.c} ${rule ? `${rule[0]}: ${rule[1]}` : ""} · ${finding.k} confidence`));
    if (finding.e.some((text) => text !== null)) box.append(fourTrees(finding));
    for (const [label, who, url] of finding.o) {
      const from = make("p", "origin", "From ");
      if (url) {
        const link = make("a", "", label);
        link.href = url;
        from.append(link);
      } else from.append(label);
      if (who) from.append(make("span", "meta", ` by ${who}`));
      if (finding.d) from.append(make("span", "meta", ` · change of ${finding.d}`));
      box.append(from);
    }
    for (const place of finding.r) box.append(make("p", "meta", `See ${place}`));
    if (finding.a !== null) box.append(make("p", "", `Accepted: ${finding.a}`));
    const commands = make("ul", "commands");
    for (const command of finding.x) {
      const row = make("li");
      row.append(make("code", "", command), " ", copyable(command, `Copy: ${command}`));
      commands.append(row);
    }
    box.append(commands);
    if (finding.h) {
      const patch = make("details", "patch");
      const body = make("pre", "", finding.h);
      body.tabIndex = 0;
      patch.append(make("summary", "", "The patch that brings it back (git apply)"), copyable(finding.h, "Copy the patch"), body);
      box.append(patch);
    }
    box.append(deciding(finding));
    return box;
  };

  const item = (finding) => {
    const details = make("details", "item");
    details.id = finding.f;
    details.dataset.mark = finding.f;
    const summary = make("summary");
    const severity = finding.a !== null ? "accepted" : finding.s;
    summary.append(make("span", `tag ${severity}`, severity));
    const place = make("span", "place");
    place.append(make("code", "", `${finding.p}:${finding.l}`));
    const facts = [finding.y === "<module>" ? "" : finding.y, finding.d, finding.v, finding.n ? "numeric" : "", finding.c];
    place.append(make("span", "meta", ` ${facts.filter(Boolean).join(" · ")}`));
    const said = make("span", "message");
    said.append(make("b", "state"), " ");
    summary.append(place, prose(said, finding.m));
    details.append(summary);
    shown(details, finding);
    // The evidence is drawn when it is asked for: a report may hold thousands.
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) {
        details.append(inside(finding));
        shown(details, finding);
      }
      if (details.open) remember(finding.f);
    });
    details.guard = finding;
    return details;
  };

  // --- the filter
  const boxes = (id, names, checked) => {
    for (const name of names) {
      const label = make("label");
      const box = make("input");
      box.type = "checkbox";
      box.value = name;
      box.defaultChecked = box.checked = checked(name);
      label.append(box, ` ${name || "none"}`);
      one(id).append(label);
    }
  };
  const all = data.groups.flatMap((group) => group.findings);
  for (const group of data.groups) {
    for (const finding of group.findings) {
      finding.text = [finding.p, finding.y, finding.m, finding.f, finding.c, ...finding.o.flat(), ...finding.e,
        (data.rules[finding.c] || [""])[0]]
        .join("\n").toLowerCase();
    }
  }
  const distinct = (key) => [...new Set(all.map((finding) => finding[key]))].sort();
  const least = SEVERITIES.indexOf(data.least);
  boxes("severities", SEVERITIES, (name) => SEVERITIES.indexOf(name) <= least);
  boxes("sides", distinct("d"), () => true);
  boxes("verdicts", distinct("v"), () => true);
  boxes("states", STATES, () => true);
  for (const id of ["sides", "verdicts"]) one(id).hidden = one(id).querySelectorAll("input").length < 2;
  for (const code of distinct("c")) {
    const option = make("option", "", `${code} ${(data.rules[code] || [""])[0]}`);
    option.value = code;
    one("code").append(option);
  }

  const chosen = (id) => new Set([...one(id).querySelectorAll("input:checked")].map((box) => box.value));
  let matches = [];
  let drawn = 0;

  const draw = () => {
    const list = one("list");
    one("more")?.remove();
    for (const [group, findings] of matches.slice(drawn, drawn + PAGE)) {
      const article = make("article", "group");
      const head = make("h3");
      if (group.url) {
        const link = make("a", "", group.label);
        link.href = group.url;
        head.append(link);
      } else head.append(group.label);
      if (group.title) head.append(` ${group.title}`);
      head.append(prose(make("span", "said", " "), group.said));
      if (findings.length > 1) head.append(make("span", "meta", ` · ${findings.length} places`));
      article.append(head, ...findings.map(item));
      list.append(article);
    }
    drawn += PAGE;
    if (drawn < matches.length) {
      const more = make("button", "", `Show ${matches.length - drawn} more groups`);
      more.id = "more";
      more.type = "button";
      more.addEventListener("click", draw);
      list.append(more);
    }
  };

  // --- by change, as the report groups them, or by file
  const files = () => {
    const found = new Map();
    for (const finding of all) {
      if (!found.has(finding.p)) found.set(finding.p, []);
      found.get(finding.p).push(finding);
    }
    const rows = [...found].map(([path, findings]) => ({ label: path, title: "", said: "", url: null, findings }));
    const worst = (row) => Math.min(...row.findings.map((finding) => SEVERITIES.indexOf(finding.s)));
    return rows.sort((a, b) => worst(a) - worst(b) || b.findings.length - a.findings.length || (a.label < b.label ? -1 : 1));
  };
  let byFile = null;
  const groups = () => (one("by").value === "file" ? (byFile ||= files()) : data.groups);

  // --- the filter and the place stand in the address, so that a view can be sent on
  const CHOICES = [["severities", "severity"], ["sides", "side"], ["verdicts", "verdict"], ["states", "state"]];
  let place = "", settled = false, printing = false, writing;
  const remember = (mark) => { if (!printing) { place = mark; writeAddress(); } };
  // Later and once: a browser takes many changes of the address in a row for an attack.
  const writeAddress = () => { clearTimeout(writing); writing = setTimeout(putAddress, 200); };
  const putAddress = () => {
    if (!settled) return;
    const said = new URLSearchParams();
    if (one("query").value) said.set("q", one("query").value);
    for (const [id, name] of CHOICES) {
      const inputs = [...one(id).querySelectorAll("input")];
      if (inputs.some((box) => box.checked !== box.defaultChecked)) {
        said.set(name, inputs.filter((box) => box.checked).map((box) => box.value || "none").join(","));
      }
    }
    for (const id of ["code", "by"]) if (one(id).value) said.set(id, one(id).value);
    for (const id of ["numeric", "accepted"]) if (one(id).checked) said.set(id, "1");
    if (place) said.set("at", place);
    const text = said.toString();
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    } catch { /* a viewer that shows the page in a frame may refuse */ }
  };
  const readAddress = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    const known = [...CHOICES.map(([, name]) => name), "q", "code", "by", "numeric", "accepted", "at"];
    if (!known.some((name) => said.has(name))) return "";
    one("query").value = said.get("q") || "";
    for (const [id, name] of CHOICES) {
      const wanted = said.get(name)?.split(",");
      for (const box of one(id).querySelectorAll("input")) {
        box.checked = wanted ? wanted.includes(box.value || "none") : box.defaultChecked;
      }
    }
    for (const id of ["code", "by"]) one(id).value = said.get(id) || "";
    for (const id of ["numeric", "accepted"]) one(id).checked = said.has(id);
    return said.get("at") || "";
  };

  const filter = () => {
    const words = one("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    const severities = chosen("severities"), sides = chosen("sides"), verdicts = chosen("verdicts");
    const states = chosen("states");
    const code = one("code").value, numeric = one("numeric").checked, accepted = one("accepted").checked;
    matches = [];
    let count = 0;
    for (const group of groups()) {
      const found = group.findings.filter((finding) =>
        states.has(stateOf(finding)) &&
        severities.has(finding.s) && sides.has(finding.d) && verdicts.has(finding.v) &&
        (!code || finding.c === code) && (!numeric || finding.n) && (accepted || finding.a === null) &&
        words.every((word) => finding.text.includes(word) || group.title.toLowerCase().includes(word)));
      if (found.length) matches.push([group, found]);
      count += found.length;
    }
    one("shown").textContent = `${count} of ${all.length} shown, ${matches.length} groups`;
    one("list").replaceChildren();
    drawn = 0;
    draw();
    writeAddress();
  };

  let waiting;
  one("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  one("filter").addEventListener("change", filter);
  one("filter").addEventListener("reset", () => setTimeout(filter));
  one("filter").addEventListener("submit", (event) => event.preventDefault());

  // --- a link to a finding opens it, whatever the filter hides
  const follow = () => {
    let mark = location.hash.slice(1);
    if (!mark) return;
    if (!/^[0-9a-f]{16}$/.test(mark)) {
      mark = readAddress();
      filter();
      if (!/^[0-9a-f]{16}$/.test(mark)) return;
    }
    const reveal = () => {
      while (!one(mark) && drawn < matches.length) draw();
      return one(mark);
    };
    if (!reveal()) {
      one("filter").reset();
      for (const box of one("severities").querySelectorAll("input")) box.checked = true;
      one("accepted").checked = true;
      setTimeout(() => { filter(); show(reveal()); });
      return;
    }
    show(one(mark));
  };
  const show = (details) => {
    if (!details) return;
    details.open = true;
    details.scrollIntoView({ block: "center" });
    details.querySelector("summary").focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", () => setTimeout(follow));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.go");
    if (link && link.hash === location.hash) follow();
  });

  one("export").addEventListener("click", () => {
    const box = one("exported");
    box.hidden = !box.hidden;
    one("export").setAttribute("aria-expanded", String(!box.hidden));
    if (!box.hidden) { writeLines(); one("lines").focus(); }
  });
  one("copyall").addEventListener("click", () => copy(one("lines").value, one("copyall")));
  window.addEventListener("storage", (event) => {
    if (event.key !== storeKey) return;
    load();  // decided in another window
    for (const details of document.querySelectorAll("details.item")) shown(details, details.guard);
  });

  // --- paper shows what is folded on the screen: every matching finding with its evidence
  window.addEventListener("beforeprint", () => {
    printing = true;
    while (drawn < matches.length) draw();
    for (const details of document.querySelectorAll("details.item")) {
      if (details.children.length === 1) { details.append(inside(details.guard)); shown(details, details.guard); }
      if (!details.open) { details.dataset.folded = "1"; details.open = true; }
    }
  });
  window.addEventListener("afterprint", () => {
    setTimeout(() => { printing = false; });
    for (const details of document.querySelectorAll("details.item[data-folded]")) {
      delete details.dataset.folded;
      details.open = false;
    }
  });

  // --- keys
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input[type=search], input[type=text], select, textarea");
    if (event.key === "Escape" && typing) { typing.blur(); return; }
    if (typing) return;
    const decision = { m: "mine", d: "done", a: "accepted" }[event.key];
    const here = document.activeElement?.closest?.("details.item");
    if (decision && here) {
      event.preventDefault();
      decide(here.guard, stateOf(here.guard) === decision ? "open" : decision);
      return;
    }
    if (event.key === "/") { event.preventDefault(); one("query").focus(); }
    if (event.key !== "j" && event.key !== "k") return;
    event.preventDefault();
    const rows = [...document.querySelectorAll(".item > summary")];
    const at = rows.indexOf(document.activeElement);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === "j" ? 1 : -1)))];
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest" }); }
  });

  // --- tables: sorting, and folding of long ones
  for (const table of document.querySelectorAll("table[data-most]")) {
    const body = table.tBodies[0], most = Number(table.dataset.most);
    const more = table.parentElement.nextElementSibling;
    let folded = body.rows.length > most;
    const fold = () => [...body.rows].forEach((row, index) => row.classList.toggle("folded", folded && index >= most));
    fold();
    if (more && more.classList.contains("more")) {
      more.addEventListener("click", () => { folded = false; fold(); more.remove(); });
    }
    const value = (row, column) => row.cells[column].dataset.sort || row.cells[column].textContent;
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      cell.querySelector("button").addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].sort((a, b) => value(a, column).localeCompare(value(b, column), "en", { numeric: true }));
        body.append(...(down ? rows.reverse() : rows));
        fold();
      });
    });
  }

  // --- light and dark
  const remembered = (value) => {
    try {
      if (value) localStorage.setItem("guard-theme", value);
      return localStorage.getItem("guard-theme");
    } catch { return value; }  // a file opened from disk may have no storage
  };
  const root = document.documentElement;
  if (remembered()) root.dataset.theme = remembered();
  one("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remembered(root.dataset.theme);
  });

  filter();
  // The browser's own jump to the fragment would take the focus away again, so ours comes after it.
  window.addEventListener("load", () => setTimeout(() => { follow(); settled = true; }));
})();
