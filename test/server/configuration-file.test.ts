/** Tests `--config`: a YAML file with a field for every flag, and the command that prints and checks it. */
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

test('a server reads its flags from the configuration file, and command-line flags take precedence', async () => {
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

test('the defaults that orch config prints are valid and change nothing', async () => {
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
    [`${head}serving:\n  console: maybe\n`, 'FILE:4:3: serving.console: "maybe" is not true or false'],
    [`${head}serving: {}\nserving: {}\n`, 'FILE:3:1: the field serving occurs twice'],
    [`${head}__proto__: {}\n`, 'FILE:3:1: unknown field __proto__'],
    [`${head}serving:\n  __proto__: {}\n`, 'FILE:4:3: unknown field serving.__proto__'],
    [`${head}serving: [\n`, /^FILE: line \d+: /],
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
