/** The program `orch`: reads the command line, starts what it asks for, and stops it on a signal. */

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { helpText, parseFlags, UsageError } from '../base/flags.ts'
import { errorFields, openLog } from '../base/log.ts'
import { usualFiles } from '../client/kubeconfig-files.ts'
import { version } from '../model/version.ts'
import { PkiFileError } from '../pki/files.ts'
import { StoreError } from '../store/store.ts'
import { startApiServer } from './api-server.ts'
import { startControlLoops } from './control-loops.ts'
import { type ServerOptions, serverFlags } from './options.ts'

const usage = `orch ${version}: a cluster-orchestration API server

Usage:
  orch up [flags]         the API server, and what is built of the control loops, in one process
  orch apiserver [flags]  the API server alone
  orch version            print the version
  orch help               print this

Flags of up and apiserver:
${helpText(serverFlags)}
`

async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  if (command === undefined || command === 'help' || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage)
    process.exitCode = command === undefined ? 2 : 0
    return
  }
  if (command === 'version' || command === '--version') {
    process.stdout.write(`orch ${version} (node ${process.versions.node})\n`)
    return
  }
  if (command !== 'up' && command !== 'apiserver')
    throw new UsageError(`unknown command ${JSON.stringify(command)}: use up, apiserver, version or help`)
  await run(command, parseFlags(serverFlags, rest))
}

async function run(command: 'up' | 'apiserver', options: ServerOptions): Promise<void> {
  const log = openLog()
  process.on('unhandledRejection', (error) =>
    log.error('a promise was rejected and nobody waited for it', errorFields(error)),
  )
  const server = await startApiServer(options, { log })
  if (command === 'up') process.stdout.write(greeting(server.url, options))
  else log.info('serving', { url: server.url, profile: options.profile })
  const loops = command === 'up' ? startControlLoops(server, options, log) : undefined
  const stop = async () => {
    log.info('stopping')
    await loops?.stop()
    await server.stop()
  }
  stopOnSignal(stop)
  const error = await server.failed
  log.error('the store can never be written again, so the server ends: look at the disk, then start it', {
    error: error.message,
  })
  await endAfterFailure(stop, options.shutdownGrace)
}

/** Long enough for whoever asks for readiness to be told why. */
const noticeMs = 1_000

/** Answers what is under way and ends, in the end by itself: a disk in trouble may hold up the closing of the store. */
async function endAfterFailure(stop: () => Promise<void>, graceMs: number): Promise<never> {
  await setTimeout(noticeMs)
  await Promise.race([stop(), setTimeout(graceMs + noticeMs)])
  process.exit(1)
}

function greeting(url: string, { adminKubeconfig, profile }: ServerOptions): string {
  const config = adminKubeconfig || 'your client config'
  const tool = profile === 'kubernetes' ? 'kubectl' : './bin/orchctl'
  const example = `${tool}${isFound(adminKubeconfig, tool) ? '' : ` --kubeconfig=${config}`} get namespaces`
  return `orch ${version} is serving at ${url} (administrator: ${config})
Try:  ${example}
Stop: Ctrl-C; all data stays and is there at the next start
`
}

/** Whether the tool, started from here, uses this client config without being told. */
function isFound(config: string, tool: string): boolean {
  if (config === '' || tool === 'kubectl') return false
  const files = usualFiles({ env: process.env, home: homedir(), directory: process.cwd() })
  return files.length === 1 && files[0] === resolve(config)
}

/** The first signal stops in order, a second one at once. */
function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false
  const onSignal = () => {
    if (stopping) process.exit(130)
    stopping = true
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    )
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}

/** What the user can mend is told in one line; anything else with its stack. */
function fail(error: unknown): never {
  const known = error instanceof UsageError || error instanceof StoreError || error instanceof PkiFileError
  process.stderr.write(
    `orch: ${known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  process.exit(1)
}

main(process.argv.slice(2)).catch(fail)
