/** Tests `--config`: a YAML file with a field for every flag, and the command that prints and checks such files. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { UsageError } from '../../src/base/flags/flags.ts'
import { flagGroupsOf, readServerFlags, type ServerCommand } from '../../src/server/flags/command-line.ts'
import { withConfigurationFile } from '../../src/server/flags/configuration-file.ts'
import { configCommand } from '../../src/server/program/config-command.ts'
import { endOfFile } from '../support/end-of-file.ts'
import { startServer } from '../support/server.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-configuration-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const owner = endOfFile()

const head = 'apiVersion: config.orch.io/v1\nkind: OrchConfiguration\n'

function write(text: string, name = 'orch.yaml'): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

async function optionsOf(command: ServerCommand, args: readonly string[]) {
  return (await readServerFlags(command, await withConfigurationFile(args, () => flagGroupsOf(command)))).options
}

test('a server reads flags from the configuration file, and command-line flags take precedence', async () => {
  const file = write(`${head}diagnostics: { profiling: false }\nlogging: { loggingFormat: json }\n`)
  const server = await startServer(owner, ['--config', file, '--logging-format=text'])
  assert.equal((await server.client().get('/readyz')).status, 200)
  assert.equal((await server.client().get('/debug/pprof/')).status, 404)
  assert.doesNotMatch(server.output(), /"msg":/)
})

test('lists, objects and scalars in a configuration file are converted to flag values', async () => {
  const file = write(`${head}
serving: { tlsSan: [a.example.com, b.example.com], securePort: 7443, console: false }
admission: { enableAdmissionPlugins: [AlwaysPullImages, EventRateLimit] }
api: { featureGates: { APIListChunking: true } }
overload: { requestTimeout: 20s }
`)
  const options = await optionsOf('apiserver', ['--config', file])
  const same = await optionsOf('apiserver', [
    '--config',
    file,
    '--tls-san=a.example.com,b.example.com',
    '--secure-port=7443',
    '--console=false',
    '--enable-admission-plugins=AlwaysPullImages,EventRateLimit',
    '--feature-gates=APIListChunking=true',
    '--request-timeout=20s',
  ])
  assert.deepEqual(options, same)
  assert.equal(options.securePort, 7443)
})

test('a group without fields in a configuration file is valid, and unknown control loops are reported', async () => {
  const file = write(`${head}serving:\ncontrolLoopAndNode: { controllers: [no-such-loop] }\n`)
  await assert.rejects(configCommand(['check', file]), /no-such-loop/)
  assert.equal(await configCommand(['check', write(`${head}serving:\n`)]), `${file} is valid for orch up\n`)
})

test('the default configuration that orch config prints is valid and changes nothing', async () => {
  for (const command of ['up', 'apiserver'] as const) {
    const file = write(await configCommand(['defaults', `--command=${command}`]), `${command}.yaml`)
    assert.equal(await configCommand(['check', file, `--command=${command}`]), `${file} is valid for orch ${command}\n`)
    const { config, ...options } = await optionsOf(command, ['--config', file])
    assert.equal(config, file)
    const { config: _, ...defaults } = await optionsOf(command, [])
    // Options may contain functions, and each parse creates new functions, so compare their source texts.
    const text = (value: unknown) => inspect(value, { depth: 9, sorted: true })
    assert.equal(text(options), text(defaults))
  }
})

test('orch config check reads standard input, up to a limit', async () => {
  const input = async function* (...parts: readonly string[]) {
    for (const part of parts) yield Buffer.from(part)
  }
  const check = ['check', '-']
  assert.equal(
    await configCommand(check, input(await configCommand(['defaults']))),
    'standard input is valid for orch up\n',
  )
  await assert.rejects(configCommand(check, input(head, 'servng: {}\n')), {
    message: 'standard input:3:1: unknown field servng; did you mean serving?',
  })
  const endless = async function* () {
    for (;;) yield Buffer.alloc(1024 * 1024, '#')
  }
  await assert.rejects(configCommand(check, endless()), /standard input has more than 16777216 bytes/)
})

test('errors in a configuration file contain the line, the column and the field', async () => {
  for (const [text, expected] of [
    ['', 'FILE: the file must contain an object of kind OrchConfiguration'],
    ['kind: Other\napiVersion: config.orch.io/v1\n', 'FILE:1:1: kind: must be OrchConfiguration'],
    ['kind: OrchConfiguration\napiVersion: v1\n', 'FILE:2:1: apiVersion: must be config.orch.io/v1'],
    [`${head}servng: {}\n`, 'FILE:3:1: unknown field servng; did you mean serving?'],
    [`${head}serving: 7\n`, 'FILE:3:1: serving: must be an object with a field per flag'],
    [`${head}serving:\n  securePrt: 1\n`, 'FILE:4:3: unknown field serving.securePrt; did you mean securePort?'],
    [`${head}serving:\n  config: x\n`, 'FILE:4:3: unknown field serving.config'],
    [`${head}serving:\n  bindAddress: ::1\n  securePort: 70000\n`, /^FILE:5:3: serving.securePort: /],
    [`${head}serving:\n  securePort: [1, 2]\n`, /^FILE:4:3: serving.securePort: /],
    [`${head}serving:\n  securePort:\n`, /^FILE:4:3: serving.securePort: must be a string, a number, a boolean/],
    [`${head}serving:\n  console: { a: { b: 1 } }\n`, /^FILE:4:3: serving.console: must be a string/],
    [`${head}serving:\n  console: maybe\n`, 'FILE:4:3: serving.console: "maybe" is neither true nor false'],
    [`${head}serving: {}\nserving: {}\n`, 'FILE:4:1: the field serving occurs twice'],
    [`${head}__proto__: {}\n`, 'FILE:3:1: unknown field __proto__'],
    [`${head}serving:\n  __proto__: {}\n`, 'FILE:4:3: unknown field serving.__proto__'],
    [`${head}serving: [\n`, /^FILE:4:1: /],
    [`${head}serving:\n  a: b: c\n`, /^FILE:4:7: /],
    [`${head}---\n${head}`, /^FILE: contains more than one YAML document|^FILE: .*more than one YAML document/],
  ] as const) {
    const file = write(text)
    await assert.rejects(configCommand(['check', file]), (error) => {
      assert.ok(error instanceof UsageError)
      const message = error.message.replace(file, 'FILE')
      if (typeof expected === 'string') assert.equal(message, expected)
      else assert.match(message, expected)
      return true
    })
  }
})

test('all errors in a configuration file are reported in the order in which they occur', async () => {
  const file = write(`apiVersion: v1
kind: OrchConfiguration
servng: {}
serving:
  console: maybe
logging:
serving:
  securePort: 70000
  securePrt: 1
`)
  const all = `FILE has 5 errors:
FILE:1:1: apiVersion: must be config.orch.io/v1
FILE:3:1: unknown field servng; did you mean serving?
FILE:7:1: the field serving occurs twice
FILE:8:3: serving.securePort: "70000" is not a port: use 0 to 65535
FILE:9:3: unknown field serving.securePrt; did you mean securePort?`
  await assert.rejects(configCommand(['check', file]), ({ message }) => {
    assert.equal(message.replaceAll(file, 'FILE'), all)
    return true
  })
  await assert.rejects(optionsOf('up', ['--config', file]), ({ message }) => message.replaceAll(file, 'FILE') === all)
})

test('at most 20 errors in a configuration file are reported', async () => {
  const file = write(`${head}${Array.from({ length: 1000 }, (_, i) => `unknown${i}: 1\n`).join('')}`)
  await assert.rejects(configCommand(['check', file]), ({ message }) => {
    const lines = message.split('\n')
    assert.equal(lines.length, 21)
    assert.equal(lines[0], `${file} has 1000 errors, of which 20 are shown:`)
    return true
  })
})

test('the command line of orch config is validated', async () => {
  const file = write(head)
  for (const [run, message] of [
    [() => configCommand([]), /use orch config defaults, or orch config check FILE/],
    [() => configCommand(['check']), /use orch config defaults, or orch config check FILE/],
    [() => configCommand(['check', file, 'more']), /use orch config defaults, or orch config check FILE/],
    [() => configCommand(['defaults', '--command=join']), /--command: "join" is not one of up, apiserver/],
    [() => optionsOf('up', [`--config=${file}`, '--config', file]), /--config is specified twice/],
    [() => optionsOf('up', ['--config']), /--config requires a value: --config=FILE/],
    [() => optionsOf('up', [`--config=${directory}`]), /--config: cannot read .*: it is a directory/],
    [() => optionsOf('up', [`--config=${directory}/none`]), /--config: cannot read .*no such file/],
  ] as const)
    await assert.rejects(run, message)
})
