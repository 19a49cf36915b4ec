/** Tests tables without a server: which output the terminal shows for data that servers may send. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTable } from '../../../src/client/requests/table.ts'
import { bytesToWrite, textOfBytes } from '../../../src/tools/cli/printers/byte-text.ts'
import { cellMeaning, hasColours, paintDescription, painterFor } from '../../../src/tools/cli/printers/colours.ts'
import { Columns } from '../../../src/tools/cli/printers/columns.ts'
import { escapeLine, escapeText } from '../../../src/tools/cli/printers/escape.ts'
import { fitText } from '../../../src/tools/cli/printers/fit.ts'
import { fitRows } from '../../../src/tools/cli/printers/fit-table.ts'
import type { TemplateOutput } from '../../../src/tools/cli/printers/output.ts'
import { headings, tableRows } from '../../../src/tools/cli/printers/table.ts'
import { fillTemplate, readyTemplate } from '../../../src/tools/cli/printers/templates.ts'

const plain = { wide: false, namespaces: false, labels: false, kind: '' }
const column = (name: string, priority = 0, format = '') => ({ name, type: 'string', format, priority })
const columns = [column('Name', 0, 'name'), column('Size'), column('Image', 1)]
const metadata = { name: 'a', namespace: 'n', labels: { b: '2', a: '1' } }
const rows = [{ cells: ['a', 5, 'img'], object: { metadata } }]

test('table columns with lower priority appear only in wide tables, and names may have a kind prefix', () => {
  assert.deepEqual(headings(columns, plain), ['NAME', 'SIZE'])
  assert.deepEqual(tableRows({ columns, rows }, plain), [['a', '5']])
  const all = { wide: true, namespaces: true, labels: true, kind: 'pod' }
  assert.deepEqual(headings(columns, all), ['NAMESPACE', 'NAME', 'SIZE', 'IMAGE', 'LABELS'])
  assert.deepEqual(tableRows({ columns, rows }, all), [['n', 'pod/a', '5', 'img', 'a=1,b=2']])
})

test('a table cell is one line of printable characters', () => {
  const cells: readonly (readonly [unknown, string])[] = [
    ['a\u001b[31mb', 'a^[[31mb'],
    ['a\nb', 'a...'],
    ['a\u0007\u007f\u009b\u202e', 'a^G^?\\u009b\\u202e'],
    [null, ''],
    [true, 'true'],
    [{ a: ['\u001b'] }, '{"a":["\\u001b"]}'],
  ]
  for (const [cell, text] of cells)
    assert.deepEqual(tableRows({ columns: [column('X')], rows: [{ cells: [cell as string], object: null }] }, plain), [
      [text],
    ])
  assert.equal(escapeLine('a\tb\n'), 'a^Ib^J')
  assert.equal(escapeText('a\tb\r\n'), 'a\tb^M\n')
})

test('table columns are aligned by characters, and later rows keep the widths of earlier rows', () => {
  const lines = new Columns()
  assert.equal(
    lines.lines([
      ['NAME', 'X', 'Y'],
      ['é😀', '', 'z'],
    ]),
    'NAME   X     Y\né😀           z\n',
  )
  assert.equal(lines.lines([['a', 'b', '']]), 'a      b     \n')
  assert.equal(
    lines.lines([
      ['a-longer-name', 'b', 'c'],
      ['a', 'b', 'c'],
    ]),
    'a-longer-name   b     c\na               b     c\n',
  )
  assert.equal(new Columns().lines([]), '')
})

test('objects from a server without table support are printed with name and age', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, resourceVersion: '7', creationTimestamp: '2024-01-01T00:00:00Z' },
  }
  const now = Date.parse('2024-01-01T00:01:30Z')
  for (const body of [object, { kind: 'PodList', metadata: { resourceVersion: '7' }, items: [object] }]) {
    const table = readTable(body, now)
    assert.deepEqual(
      [headings(table.columns, plain), ...tableRows(table, plain)],
      [
        ['NAME', 'AGE'],
        ['a', '90s'],
      ],
    )
  }
})

test('the help text of a flag is wrapped next to the flag, or below the flag if there is no room', () => {
  const help = 'One two three\nfour.\n\nExamples:\n  orchctl a --long-flag=x\n\nFlags:\n  -f, --file=F  one two three\n'
  const kept = '\n\nExamples:\n  orchctl a --long-flag=x\n\nFlags:\n'
  assert.equal(fitText(help, 100), `One two three four.${kept}  -f, --file=F  one two three\n`)
  assert.equal(fitText(help, 22), `One two three four.${kept}  -f, --file=F\n          one two\n          three\n`)
  const long = '  -f, --file=F  one two three four five six seven eight nine ten\n'
  assert.equal(fitText(long, 58), '  -f, --file=F  one two three four five six seven eight\n                nine ten\n')
})

test('orchctl colors statuses by their meaning', () => {
  const red = (text: string) => `\u001b[31m${text}\u001b[0m`
  const green = (text: string) => `\u001b[32m${text}\u001b[0m`
  const yellow = (text: string) => `\u001b[33m${text}\u001b[0m`
  const terminal = { out: true, err: true }
  const painted = painterFor({ terminal, env: {} }, 'out')!
  const paint = (heading: string, cell: string) => painted(cell, cellMeaning(heading, cell))
  assert.equal(paint('STATUS', 'Running'), green('Running'))
  assert.equal(paint('STATUS', 'CrashLoopBackOff'), red('CrashLoopBackOff'))
  assert.equal(paint('STATUS', 'Ready,SchedulingDisabled'), yellow('Ready,SchedulingDisabled'))
  assert.equal(paint('STATUS', 'Whatever'), 'Whatever')
  assert.equal(paint('READY', '1/2'), yellow('1/2'))
  assert.equal(paint('READY', '2/2'), green('2/2'))
  assert.equal(paint('NAME', 'Running'), 'Running')
  const lines = new Columns((cell) => paint('STATUS', cell))
  assert.equal(lines.lines([['Running', 'x']]), `${green('Running')}   x\n`)
  assert.equal(
    paintDescription(
      'Status:  Running\nConditions:\n  Ready  False  x\n  DiskPressure  False\nOther:\n  A  False',
      painted,
    ),
    `Status:  ${green('Running')}\nConditions:\n  Ready  ${red('False')}  x\n  DiskPressure  ${green('False')}\nOther:\n  A  False`,
  )
  assert.equal(hasColours({ terminal, env: {} }, 'out'), true)
  assert.equal(hasColours({ terminal, env: { NO_COLOR: '1' } }, 'out'), false)
  assert.equal(hasColours({ terminal, env: { TERM: 'dumb' } }, 'err'), false)
  assert.equal(hasColours({ terminal: { out: false, err: true }, env: {} }, 'out'), false)
})

test('each of the 256 terminal colors is readable on light and dark backgrounds', () => {
  for (const env of [{ TERM: 'xterm-256color' }, { TERM: 'screen', COLORTERM: 'truecolor' }]) {
    const painted = painterFor({ terminal: { out: true, err: true }, env }, 'out')!
    for (const meaning of ['good', 'waiting', 'bad'] as const) {
      const [, number] = /38;5;(\d+)m/.exec(painted('x', meaning))!
      const light = lightOf(Number(number))
      const onWhite = 1.05 / (light + 0.05)
      const onBlack = (light + 0.05) / 0.05
      assert.ok(Math.min(onWhite, onBlack) > 3.8, `${meaning}: ${onWhite} on white, ${onBlack} on black`)
    }
  }
})

/** Returns the relative luminance of a color in the 216-color cube, as defined by WCAG. */
function lightOf(number: number): number {
  const steps = [0, 95, 135, 175, 215, 255]
  const [r, g, b] = [36, 6, 1].map((size) => {
    const part = steps[Math.floor((number - 16) / size) % 6]! / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

test('a table fits the terminal without truncating names', () => {
  const head = ['NAME', 'IMAGE', 'AGE']
  const rows = [['a-long-name-that-stays', 'registry.example.com/some/image:1.2.3', '5m']]
  const fitted = fitRows(head, rows, 50)
  assert.deepEqual(fitted, [['a-long-name-that-stays', 'registry.example.c…', '5m']])
  assert.ok(
    new Columns()
      .lines([head, ...fitted])
      .split('\n')
      .every((line) => line.length <= 50),
  )
  assert.deepEqual(fitRows(head, rows, 200), rows)
  assert.equal(fitRows(head, rows, 10)[0]![0], 'a-long-name-that-stays')
})

test('an output template prints binary data unchanged', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  assert.deepEqual(new Uint8Array(bytesToWrite(textOfBytes(bytes)) as Uint8Array), bytes)
  const both = Buffer.concat([Buffer.from('é☃😀'), bytes, Buffer.from('😀')])
  assert.deepEqual(bytesToWrite(`é☃😀${textOfBytes(bytes)}😀`), both)
  assert.equal(bytesToWrite(textOfBytes(Buffer.from('é☃😀'))), 'é☃😀')
})

test('template output is raw for other programs and escaped on a terminal', async () => {
  const value = { a: 'x\r\u001b[31m' }
  for (const [seen, text] of [
    [true, 'x^M^[[31m'],
    [false, 'x\r\u001b[31m'],
  ] as const) {
    const output = { form: 'template', language: 'jsonpath', text: '{.a}', isFile: false } as const
    const ready = (await readyTemplate({ output, template: '', isTerminal: seen })) as TemplateOutput
    assert.equal(await fillTemplate(ready, value, { allowMissingTemplateKeys: true }), text)
  }
})
