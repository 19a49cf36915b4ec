/** The parser of flags: the forms a flag can take, and the words between. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpText } from '../../src/base/flag-help.ts'
import { flag, oneOf, parseCommandLine, repeated, splitCommand, text, toggle } from '../../src/base/flags.ts'

const flags = {
  name: flag('n,name', 'NAME', 'nobody', text, 'who'),
  size: flag('size', 'SIZE', 'small', oneOf(['small', 'large']), 'how much'),
  all: toggle('A,all', 'everything'),
  wait: toggle('w,wait', 'slowly'),
}
const usual = { name: 'nobody', size: 'small', all: false, wait: false }

const right: readonly (readonly [string[], object, string[]])[] = [
  [[], {}, []],
  [['a', '--name=x', 'b'], { name: 'x' }, ['a', 'b']],
  [['--name', 'x', 'b'], { name: 'x' }, ['b']],
  [['-n', 'x', 'b'], { name: 'x' }, ['b']],
  [['-nx', 'b'], { name: 'x' }, ['b']],
  [['-n=x=y'], { name: 'x=y' }, []],
  [['--name=', '-'], { name: '' }, ['-']],
  [['--name=-A'], { name: '-A' }, []],
  [['-Aw', 'b'], { all: true, wait: true }, ['b']],
  [['-Awnx'], { all: true, wait: true, name: 'x' }, []],
  [['-Awn', 'x'], { all: true, wait: true, name: 'x' }, []],
  [['--all=false', '-w=true'], { wait: true }, []],
  [['-A', '--', '-w', '--', 'x'], { all: true }, ['-w', '--', 'x']],
]

for (const [args, options, words] of right) {
  test(`reads ${JSON.stringify(args)}`, () => {
    assert.deepEqual(parseCommandLine(flags, args), { options: { ...usual, ...options }, words })
  })
}

const wrong: readonly (readonly [string[], RegExp])[] = [
  [['-x'], /unknown flag -x/],
  [['-Ax'], /unknown flag -x/],
  [['--nam=x'], /unknown flag --nam; did you mean --name\?/],
  [['--iszz=x'], /unknown flag --iszz; did you mean --size\?/],
  [['--zq'], /unknown flag --zq \(/],
  [['-n'], /--name needs a value: --name=NAME/],
  [['-n', '-A'], /--name needs a value/],
  [['--all=maybe'], /--all: "maybe" is not true or false/],
  [['-A', '--all'], /--all is given twice/],
  [['--size=huge'], /--size: "huge" is not one of small, large/],
]

for (const [args, told] of wrong) {
  test(`refuses ${JSON.stringify(args)}`, () => {
    assert.throws(() => parseCommandLine(flags, args), told)
  })
}

test('a repeated flag has all its values, in order', () => {
  const files = { files: repeated('file', 'FILE', text, 'what to read') }
  const filesOf = (args: readonly string[]) => parseCommandLine(files, args).options.files
  assert.deepEqual(filesOf([]), [])
  assert.deepEqual(filesOf(['--file=a']), ['a'])
  assert.deepEqual(filesOf(['--file=b', '--file', 'a,c', '--file=']), ['b', 'a,c'])
})

test('the command is the first word, after flags and their values', () => {
  assert.deepEqual(splitCommand(flags, ['-A', '-n', 'x', 'get', '-z', 'y']), {
    command: 'get',
    rest: ['-A', '-n', 'x', '-z', 'y'],
  })
  assert.deepEqual(splitCommand(flags, ['--name', 'x']), { command: undefined, rest: ['--name', 'x'] })
})

test('the help shows letters, values and defaults', () => {
  assert.equal(
    helpText(flags),
    [
      '  -n, --name=NAME  who (default nobody)',
      '      --size=SIZE  how much (default small)',
      '  -A, --all        everything',
      '  -w, --wait       slowly',
    ].join('\n'),
  )
})
