"""Compares a trace of ChampSim with what objdump and `bustap dump --csv` say about the same execution.

champsim_twin.py TRACE CSV FILE@ADDRESS...

The kinds of branches are those of ChampSim's inc/instruction.h, from the registers alone.
"""
import collections, csv, re, struct, subprocess, sys

SP, FLAGS, IP = 6, 25, 26
GENERAL = {'ax': 10, 'cx': 9, 'dx': 8, 'bx': 7, 'sp': 6, 'bp': 5, 'si': 4, 'di': 3}
CONDITIONAL = re.compile(r'(j(?!mp)|loop)')


def kind_of(record):
    """ChampSim's rules, in its order."""
    _, _, _, written, read, _, _ = record
    written, read = {r for r in written if r}, {r for r in read if r}
    writes_sp, writes_ip = SP in written, IP in written
    reads_sp, reads_ip, reads_flags = SP in read, IP in read, FLAGS in read
    reads_other = bool(read - {SP, FLAGS, IP})
    if not reads_sp and not reads_flags and writes_ip and not reads_other:
        return 'jump'
    if not reads_sp and not reads_ip and not reads_flags and writes_ip and reads_other:
        return 'indirect jump'
    # later versions also take reads_other; earlier ones take flags alone
    if not reads_sp and reads_ip and not writes_sp and writes_ip and reads_flags and not reads_other:
        return 'conditional'
    if reads_sp and reads_ip and writes_sp and writes_ip and not reads_flags and not reads_other:
        return 'call'
    if reads_sp and reads_ip and writes_sp and writes_ip and not reads_flags and reads_other:
        return 'indirect call'
    if reads_sp and not reads_ip and writes_sp and writes_ip:
        return 'return'
    return 'other' if writes_ip else 'plain'


def objdump_kind(text):
    words = text.split()
    while words and words[0] in ('bnd', 'notrack', 'data16', 'rep', 'repz', 'repnz', 'cs', 'ds'):
        words = words[1:]
    name = words[0].split(',')[0].rstrip('q') if words else ''
    indirect = '*' in text
    if name == 'jmp':
        return 'indirect jump' if indirect else 'jump'
    if name == 'call':
        return 'indirect call' if indirect else 'call'
    if name == 'ret':
        return 'return'
    return 'conditional' if CONDITIONAL.match(name) else 'plain'


def number(name):
    """A register of objdump as ChampSim's number, 0 for others."""
    match = re.fullmatch(r'[re]?(ax|cx|dx|bx|sp|bp|si|di)|([abcd])[lh]|(sp|bp|si|di)l', name)
    if match:
        return GENERAL[match[1] or match[3] or match[2] + 'x']
    match = re.fullmatch(r'r(\d+)[dwb]?', name)
    if match:
        return int(match[1]) + 3
    match = re.fullmatch(r'[xyz]mm(\d+)', name)
    return 64 + int(match[1]) if match else 0


def expected_registers(text):
    """Registers of addresses, which are read; of moves and additions, those written and read."""
    read = {number(r) for group in re.findall(r'\(([^)]*)\)', text) for r in re.findall(r'%(\w+)', group)}
    written = set()
    match = re.fullmatch(r'(mov|add|sub|xor|and|or|lea|movzb|movs|movslq|movups|movaps|paddd)[lqwb]?\s+(.*)', text)
    if match:
        operands = re.split(r',(?![^(]*\))', match[2].split('#')[0].strip())
        if len(operands) == 2:
            if re.fullmatch(r'%\w+', operands[0]):
                read.add(number(operands[0][1:]))
            if re.fullmatch(r'%\w+', operands[1]):
                written.add(number(operands[1][1:]))
                if match[1] in ('add', 'sub', 'xor', 'and', 'or', 'paddd'):
                    read.add(number(operands[1][1:]))
    return read - {0}, written - {0}


def disassemble(image):
    """address -> (size, text)"""
    path, load = image.split('@')[:2]
    loads = re.findall(r'LOAD +\S+ +(0x\w+)', subprocess.run(['readelf', '-lW', path], check=True,
                                                            capture_output=True, text=True).stdout)
    bias = int(load, 0) - min(int(l, 16) for l in loads) // 4096 * 4096
    out = subprocess.run(['objdump', '-d', '--insn-width=16', path], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in out.splitlines():
        match = re.match(r' *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)', line)
        if match:
            found[int(match[1], 16) + bias] = (len(match[2].split()), re.sub(r' *<.*', '', match[3]).strip())
    return found


def main():
    trace, records, images = sys.argv[1], sys.argv[2], sys.argv[3:]
    code = {}
    for image in images:
        code.update(disassemble(image))
    # instructions of the capture, with the addresses that they read and write
    fetched = []
    with open(records) as lines:
        for row in csv.DictReader(lines):
            address = int(row['address'], 0)
            if row['type'] == 'FETCH':
                fetched.append((address, [], []))
            else:
                fetched[-1][1 if row['type'] == 'MEMREAD' else 2].append(address)
    data = open(trace, 'rb').read()
    layout = struct.Struct('<QBB2s4s2Q4Q')
    rows = []
    for fields in layout.iter_unpack(data):
        rows.append((fields[0], fields[1], fields[2], fields[3], fields[4], fields[5:7], fields[7:11]))
    at = 0
    kinds = collections.Counter()
    for i, (address, reads, writes) in enumerate(fetched):
        size, text = code.get(address, (0, ''))
        group = [rows[at]]
        at += 1
        got_reads = [a for a in group[0][6] if a]
        got_writes = [a for a in group[0][5] if a]
        while len(got_reads) + len(got_writes) < len(reads) + len(writes):
            assert rows[at][0] == address, (hex(address), text)
            group.append(rows[at])
            got_reads += [a for a in rows[at][6] if a]
            got_writes += [a for a in rows[at][5] if a]
            at += 1
        assert (got_reads, got_writes) == (reads, writes), (hex(address), text)
        assert group[0][0] == address, (hex(address), text)
        if not text:
            continue
        if text.startswith(('rep movs', 'repz cmps')):  # a record for each repetition
            each = {'rep movs': (1, 1), 'repz cmp': (2, 0)}[text[:8]]
            for row in group if reads else []:
                assert (sum(a > 0 for a in row[6]), sum(a > 0 for a in row[5])) == each, (hex(address), text)
            kinds['repetition'] += len(group)
        last = group[-1]
        wanted = objdump_kind(text)
        assert kind_of(last) == wanted, (hex(address), text, kind_of(last), last)
        assert last[1] == (wanted != 'plain'), (hex(address), text)
        kinds[wanted] += 1
        if wanted == 'conditional' and i + 1 < len(fetched):
            after = fetched[i + 1][0]
            target = int(re.search(r'([0-9a-f]+)$', text.split('#')[0].strip())[1], 16)
            taken = after != address + size
            assert last[2] == taken, (hex(address), text, hex(after))
            kinds['taken' if taken else 'not taken'] += 1
            assert target is not None
        elif wanted != 'conditional':
            assert last[2] == (wanted != 'plain'), (hex(address), text)
        if wanted == 'plain':
            read, written = expected_registers(text)
            assert read <= set(last[4]) and written <= set(last[3]), (hex(address), text, last)
            kinds['registers'] += bool(read or written)
            assert all(row[3:5] == last[3:5] for row in group)
    assert at == len(rows), (at, len(rows))
    print(' '.join(f'{kind.replace(" ", "_")}={count}' for kind, count in sorted(kinds.items())))


main()
