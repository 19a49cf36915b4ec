/** Tests the flag parser: the accepted notations of flags, and arguments between flags. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpText } from '../../src/base/flags/flag-help.ts'
import {
  flag,
  oneOf,
  parseCommandLine,
  parseFlags,
  refusedFlag,
  repeated,
  splitCommand,
  text,
  toggle,
  withBare,
} from '../../src/base/flags/flags.ts'

const flags = {
  name: flag({ name: 'name', letter: 'n', value: 'NAME', default: 'nobody', read: text, help: 'who' }),
  size: flag({ name: 'size', value: 'SIZE', default: 'small', read: oneOf(['small', 'large']), help: 'how much' }),
  all: toggle({ name: 'all', letter: 'A', help: 'everything' }),
  wait: toggle({ name: 'wait', letter: 'w', help: 'slowly' }),
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
  [['--name=a', '-n', 'b', '-A', '--all=0'], { name: 'b' }, []],
  [['-n', '-1', '--all=T'], { name: '-1', all: true }, []],
]

for (const [args, options, words] of right) {
  test(`the arguments ${JSON.stringify(args)} are accepted`, () => {
    assert.deepEqual(parseCommandLine(flags, args), { options: { ...usual, ...options }, words })
  })
}

const wrong: readonly (readonly [string[], RegExp])[] = [
  [['-x'], /unknown flag -x/],
  [['-Ax'], /unknown flag -x/],
  [['--nam=x'], /unknown flag --nam; did you mean --name\?/],
  [['--iszz=x'], /unknown flag --iszz; did you mean --size\?/],
  [['--zq'], /unknown flag --zq \(/],
  [['-n'], /--name requires a value: --name=NAME/],
  [['-n', '-A'], /--name requires a value/],
  [['--all=maybe'], /--all: "maybe" is neither true nor false/],
  [['--size=huge'], /--size: "huge" is not one of small, large/],
]

for (const [args, expected] of wrong) {
  test(`the arguments ${JSON.stringify(args)} are rejected`, () => {
    assert.throws(() => parseCommandLine(flags, args), expected)
  })
}

test('the server accepts each flag only once', () => {
  assert.throws(() => parseFlags(flags, ['-A', '--all']), /--all is specified twice/)
})

test('a flag with an optional value uses the next argument only if it is an allowed value', () => {
  const dry = {
    dry: withBare(
      flag({
        name: 'dry',
        letter: 'd',
        value: 'none|client',
        default: 'none',
        read: oneOf(['none', 'client']),
        help: '',
      }),
      'client',
    ),
    ...flags,
  }
  const read = (args: readonly string[]) => {
    const { options, words } = parseCommandLine(dry, args)
    return [options.dry, words]
  }
  assert.deepEqual(read(['x']), ['none', ['x']])
  assert.deepEqual(read(['x', '--dry']), ['client', ['x']])
  assert.deepEqual(read(['--dry', '-A', 'x']), ['client', ['x']])
  assert.deepEqual(read(['--dry', 'x']), ['client', ['x']])
  assert.deepEqual(read(['--dry', 'none', 'x']), ['none', ['x']])
  assert.deepEqual(read(['-dnone', 'x']), ['none', ['x']])
  assert.equal(splitCommand(dry, ['--dry', 'get']).command, 'get')
  assert.equal(splitCommand(dry, ['--dry', 'client', 'get']).command, 'get')
})

test('an unsupported flag is rejected with a reason unless its value has no effect, and help omits the flag', () => {
  const refused = { log: refusedFlag('log', 'there is no log', { accepted: 'true' }), name: flags.name }
  assert.deepEqual(parseCommandLine(refused, ['--log', '--log=true']).words, [])
  assert.throws(() => parseCommandLine(refused, ['--log=false']), /--log: there is no log/)
  assert.throws(() => parseCommandLine(refused, ['--lo']), /unknown flag --lo \(/)
  assert.doesNotMatch(helpText(refused), /log/)
})

test('the values of a repeated flag are collected in order', () => {
  const files = { files: repeated({ name: 'file', value: 'FILE', read: text, help: 'what to read' }) }
  const filesOf = (args: readonly string[]) => parseCommandLine(files, args).options.files
  assert.deepEqual(filesOf([]), [])
  assert.deepEqual(filesOf(['--file=a']), ['a'])
  assert.deepEqual(filesOf(['--file=b', '--file', 'a,c', '--file=']), ['b', 'a,c'])
})

test('the command is the first argument that is neither a flag nor the value of a flag', () => {
  assert.deepEqual(splitCommand(flags, ['-A', '-n', 'x', 'get', '-z', 'y']), {
    command: 'get',
    rest: ['-A', '-n', 'x', '-z', 'y'],
  })
  assert.deepEqual(splitCommand(flags, ['--name', 'x']), { command: undefined, rest: ['--name', 'x'] })
})

test('the help text shows short flags, values and defaults', () => {
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
