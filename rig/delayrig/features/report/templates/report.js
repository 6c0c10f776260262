// SPDX-License-Identifier: GPL-2.0-or-later
// Filters hide what does not match; everything is there without them.
(() => {
	const form = document.getElementById("filters");
	if (!form) return;
	const selects = [...form.querySelectorAll("select")];
	const items = [...document.querySelectorAll(selects.map((s) => `[data-${s.dataset.filter}]`).join() || "x")];
	const shown = document.getElementById("shown");
	const matches = (item, name, wanted) =>
		!wanted || !(name in item.dataset) || item.dataset[name] === wanted ||
		(name === "hazards" && item.dataset[name].split(" ").includes(wanted));
	const apply = () => {
		for (const item of items)
			item.hidden = !selects.every((s) => matches(item, s.dataset.filter, s.value));
		const rows = [...document.querySelectorAll("tr[data-cell]")];
		shown.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} cells`;
	};
	const showAll = () => {
		form.reset();
		apply();
	};
	const reveal = () => {
		const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!target) return;
		if (target.closest("[hidden]")) showAll();
		const folded = target.closest("details");
		if (folded) folded.open = true;
		target.scrollIntoView();
		target.focus({ preventScroll: true });
	};
	form.addEventListener("change", apply);
	form.querySelector("button").addEventListener("click", showAll);
	form.addEventListener("submit", (event) => event.preventDefault());
	addEventListener("hashchange", reveal);
	form.hidden = false;
	apply();
	if (location.hash) reveal();
})();
