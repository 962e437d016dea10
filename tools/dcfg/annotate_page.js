/*
 * Shows the functions of the page. A function's rows are JSON in its <script> element, and become a
 * table when the function is opened first. Text from files reaches the page as text only.
 */
'use strict';
(function () {
    const LANE = 9; /* pixels between arrows */
    const confidence = ['certain', 'assumed', 'not explained'];
    const main = document.querySelector('main');
    const functions = Array.from(main.querySelectorAll('details'));
    const settings = JSON.parse(document.getElementById('settings').textContent);

    function make(name, parent, text, style) {
        const element = document.createElement(name);
        if (text !== undefined)
            element.textContent = text;
        if (style)
            element.className = style;
        if (parent)
            parent.append(element);
        return element;
    }

    function data(details) {
        if (!details.data)
            details.data = JSON.parse(details.querySelector('script').textContent);
        return details.data;
    }

    function number(value) {
        return value === undefined ? '' : value.toLocaleString('en-US');
    }

    function count(value, word, words) {
        return number(value) + ' ' + (value === 1 ? word : words || word + 's');
    }

    function percent(value) {
        return value === undefined ? '' : (100 * value).toFixed(2) + ' %';
    }

    function link(parent, text, target) {
        if (target === undefined || target === null)
            return make('span', parent, text);
        const a = make('a', parent, text);
        a.href = '#f' + target;
        return a;
    }

    /* --- a function's table --- */

    function headings(table, lanes) {
        const row = make('tr', make('thead', table));
        make('th', row, 'share');
        make('th', row, 'executions');
        settings.threads.forEach(thread => make('th', row, 'thread ' + thread));
        if (settings.uncertain)
            make('th', row, 'confidence', 'text');
        make('th', row, 'taken');
        make('th', row, 'address');
        make('th', row, '').style.minWidth = (lanes * LANE + 16) + 'px';
        make('th', row, settings.unit === 'chunk' ? 'chunks' : 'instruction', 'text');
        make('th', row, 'source', 'text');
    }

    /* A line without counts: its text in the column of instructions. */
    function between(body, style) {
        const row = make('tr', body, undefined, style);
        make('td', row).colSpan = 2 + settings.threads.length + (settings.uncertain ? 1 : 0);
        const taken = make('td', row);
        make('td', row).colSpan = 2;
        const text = make('td', row, undefined, 'text');
        text.colSpan = 2;
        return { row: row, taken: taken, text: text };
    }

    function instruction(cell, row) {
        if (row.k === 1)
            cell.textContent = '(' + count(row.b, settings.unit) + ', ' + count(row.z, 'byte') + ')';
        else if (row.k === 3)
            cell.textContent = row.z ? '(' + count(row.z, 'byte') + ' not executed)' : '(continues elsewhere)';
        else
            cell.textContent = row.x;
        if (row.g) {
            cell.append(' <');
            link(cell, row.g, row.f);
            cell.append('>');
        }
    }

    function source(cell, row, files) {
        if (!row.s)
            return;
        cell.textContent = files[row.s[0]].replace(/.*\//, '') + ':' + row.s[1];
        cell.title = files[row.s[0]] + ':' + row.s[1];
        if (row.s[2])
            make('b', cell, '  ' + row.s[2]);
    }

    function line(body, row, files, hottest) {
        const tr = make('tr', body, undefined, row.k === 2 || row.k === 3 ? 'cold' : row.h ? 'first' : '');
        const share = make('td', tr, percent(row.p), row.p === undefined ? '' : 'heat');
        if (row.p !== undefined) {
            share.style.setProperty('--part', (100 * row.p / hottest) + '%');
            share.title = percent(row.p) + ' of the function';
        }
        make('td', tr, number(row.n));
        settings.threads.forEach((thread, i) => make('td', tr, row.t ? number(row.t[i]) : ''));
        if (settings.uncertain)
            make('td', tr, row.n === undefined ? '' : confidence[row.c || 0],
                 'text ' + ['certain', 'assumed', 'unexplained'][row.c || 0]);
        make('td', tr, number(row.j));
        make('td', tr, row.k === 3 ? '' : row.a, 'address');
        make('td', tr);
        instruction(make('td', tr, undefined, 'text'), row);
        source(make('td', tr, undefined, 'text source'), row, files);
        return tr;
    }

    function edges(body, row, loop, rows) {
        (row.e || []).forEach(edge => {
            const extra = between(body, 'extra');
            extra.taken.textContent = number(edge[0]);
            extra.text.append('  \u2192 ');
            link(extra.text, edge[1], edge[2]);
            if (edge[3])
                extra.text.append(', ' + edge[3]);
            rows.push({ tr: extra.row, loop: loop });
        });
    }

    function toggle(cell, text, act) {
        const button = make('button', cell, undefined, 'toggle');
        button.type = 'button';
        button.setAttribute('aria-expanded', 'true');
        button.textContent = '\u25be ' + text;
        button.addEventListener('click', () => {
            const open = button.getAttribute('aria-expanded') !== 'true';
            button.setAttribute('aria-expanded', open);
            button.textContent = (open ? '\u25be ' : '\u25b8 ') + text;
            act(!open);
        });
        return button;
    }

    /* Hides what is in a closed loop, or in a closed run of instructions that were not executed. */
    function update(details) {
        const view = details.view;
        view.rows.forEach(row => {
            let hidden = row.run !== undefined && view.closedRuns.has(row.run);
            for (let loop = row.loop; loop >= 0 && !hidden; loop = view.loops[loop].up)
                hidden = view.closed.has(loop);
            row.tr.hidden = hidden;
        });
        draw(details);
    }

    function loopLine(details, body, loop, number_) {
        const extra = between(body, 'loop');
        const words = 'loop: ' + count(loop.n, 'entry', 'entries') + ', ' + count(loop.i, 'iteration') +
            (loop.n ? ', ' + (loop.i / loop.n).toFixed(1) + ' per entry' : '') + ', ' + percent(loop.p);
        extra.text.style.paddingLeft = (loop.d * 14 - 6) + 'px';
        toggle(extra.text, words, closed => {
            details.view.closed[closed ? 'add' : 'delete'](number_);
            update(details);
        });
        details.view.rows.push({ tr: extra.row, loop: loop.up });
    }

    /* A run of instructions that were not executed, closed at first. */
    function coldRun(details, body, rows, at) {
        let end = at;
        while (end < rows.length && rows[end].k === 2)
            end++;
        const run = details.view.runs++;
        const extra = between(body, 'extra');
        const button = toggle(extra.text, count(end - at, 'instruction') + ' not executed', closed => {
            details.view.closedRuns[closed ? 'add' : 'delete'](run);
            update(details);
        });
        details.view.rows.push({ tr: extra.row, loop: -1 });
        button.setAttribute('aria-expanded', 'false');
        button.textContent = '\u25b8' + button.textContent.slice(1);
        details.view.closedRuns.add(run);
        return run;
    }

    function build(details) {
        const all = data(details);
        const code = make('div', details, undefined, 'code');
        const table = make('table', code);
        const body = document.createElement('tbody');
        details.view = { rows: [], index: [], loops: all.loops, closed: new Set(), closedRuns: new Set(), runs: 0 };
        headings(table, all.lanes);
        const heads = new Map(all.loops.map((loop, i) => [loop.h, i]));
        const hottest = all.rows.reduce((most, row) => Math.max(most, row.p || 0), 0) || 1;
        let run;
        all.rows.forEach((row, i) => {
            const loop = row.l === undefined ? -1 : row.l;
            const head = heads.get(i);
            if (head !== undefined)
                loopLine(details, body, all.loops[head], head);
            if (row.k !== 2)
                run = undefined;
            else if (run === undefined)
                run = coldRun(details, body, all.rows, i);
            const tr = line(body, row, all.files, hottest);
            details.view.index[i] = tr;
            details.view.rows.push({ tr: tr, loop: loop, run: run });
            edges(body, row, loop, details.view.rows);
        });
        table.append(body);
        details.view.table = table;
        details.view.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
        code.append(details.view.svg);
        update(details);
    }

    /* --- arrows --- */

    function path(parent, d, style) {
        const element = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        element.setAttribute('d', d);
        if (style)
            element.setAttribute('class', style);
        parent.append(element);
    }

    function arrow(svg, jump, from, to, right) {
        const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
        const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
        const x = right - 10 - jump[3] * LANE;
        const bend = Math.min(4, Math.abs(to - from) / 2) * (to < from ? -1 : 1);
        title.textContent = jump[4] + ', taken ' + number(jump[2]);
        group.append(title);
        group.dataset.count = jump[2];
        path(group, 'M' + right + ' ' + from + 'H' + (x + 4) + 'Q' + x + ' ' + from + ' ' + x + ' ' + (from + bend) +
            'V' + (to - bend) + 'Q' + x + ' ' + to + ' ' + (x + 4) + ' ' + to + 'H' + (right - 4));
        path(group, 'M' + right + ' ' + to + 'l-6 -3.5v7z', 'head');
        svg.append(group);
    }

    function draw(details) {
        const view = details.view;
        const all = data(details);
        const column = 4 + settings.threads.length + (settings.uncertain ? 1 : 0);
        const cell = view.index.length ? view.index[0].children[column] : null;
        view.svg.replaceChildren();
        if (!details.open || !cell)
            return;
        const heading = view.table.tHead.rows[0].children[column];
        const left = heading.offsetLeft;
        view.svg.style.left = left + 'px';
        view.svg.setAttribute('width', heading.offsetWidth);
        view.svg.setAttribute('height', view.table.offsetHeight);
        all.jumps.forEach(jump => {
            const from = view.index[jump[0]], to = view.index[jump[1]];
            if (!from.hidden && !to.hidden)
                arrow(view.svg, jump, from.offsetTop + (from === to ? 16 : 12), to.offsetTop + (from === to ? 4 : 8),
                      heading.offsetWidth - 3);
        });
    }

    /* --- search --- */

    let hits = [], current = -1;

    function texts(details) {
        if (!details.texts) {
            const all = data(details);
            details.texts = all.rows.map(row => [row.a, row.x, row.g, row.s && all.files[row.s[0]] + ':' + row.s[1],
                row.s && row.s[2]].concat((row.e || []).map(edge => edge[1])).filter(Boolean).join('\n').toLowerCase());
        }
        return details.texts;
    }

    function search(query) {
        let shown = 0;
        hits = [];
        current = -1;
        functions.forEach(details => {
            const name = details.dataset.name || (details.dataset.name =
                details.querySelector('summary').textContent.toLowerCase());
            const found = query && name.includes(query);
            details.hits = [];
            if (query)
                texts(details).forEach((text, i) => {
                    if (text.includes(query))
                        details.hits.push(i);
                });
            details.hits.forEach(row => hits.push({ details: details, row: row }));
            details.hidden = Boolean(query) && !found && details.hits.length === 0;
            shown += !details.hidden;
            mark(details);
        });
        document.getElementById('found').textContent = query
            ? count(shown, 'function') + ', ' + count(hits.length, 'line') : '';
    }

    function mark(details) {
        if (!details.view)
            return;
        details.view.index.forEach(tr => tr.classList.remove('hit', 'current'));
        (details.hits || []).forEach(row => details.view.index[row].classList.add('hit'));
    }

    function openLoops(details, row) {
        const view = details.view;
        const at = view.rows.find(r => r.tr === view.index[row]);
        for (let loop = at.loop; loop >= 0; loop = view.loops[loop].up)
            view.closed.delete(loop);
        view.closedRuns.delete(at.run);
        update(details);
    }

    function next(step) {
        if (hits.length === 0)
            return;
        if (current >= 0)
            hits[current].details.view.index[hits[current].row].classList.remove('current');
        current = (current + step + hits.length) % hits.length;
        const hit = hits[current];
        show(hit.details);
        openLoops(hit.details, hit.row);
        hit.details.view.index[hit.row].classList.add('current');
        hit.details.view.index[hit.row].scrollIntoView({ block: 'center' });
        document.getElementById('found').textContent = 'line ' + number(current + 1) + ' of ' + number(hits.length);
    }

    /* --- the page --- */

    function show(details) {
        details.open = true;
        if (!details.view) {
            build(details);
            mark(details);
        }
        draw(details);
    }

    function follow() {
        const details = document.getElementById(location.hash.slice(1));
        if (details && details.tagName === 'DETAILS') {
            details.hidden = false;
            show(details);
            details.scrollIntoView();
        }
    }

    const input = document.querySelector('input[type=search]');
    let timer;
    input.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => search(input.value.trim().toLowerCase()), 120);
    });
    document.querySelector('form').addEventListener('submit', event => {
        event.preventDefault();
        next(event.submitter && event.submitter.name === 'back' ? -1 : 1);
    });
    document.addEventListener('keydown', event => {
        if (event.key === '/' && event.target !== input) {
            event.preventDefault();
            input.focus();
        }
    });
    document.getElementById('close').addEventListener('click', () => functions.forEach(f => f.open = false));
    functions.forEach(details => details.addEventListener('toggle', () => {
        if (details.open)
            show(details);
    }));
    addEventListener('hashchange', follow);
    addEventListener('resize', () => functions.forEach(f => f.view && draw(f)));
    if (functions.length)
        show(functions[0]);
    follow();
})();
