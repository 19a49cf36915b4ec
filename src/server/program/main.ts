/** The `orch` program: parses the command line, starts the command and stops it on a signal. */
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { version } from '../../api/model/version.ts'
import { parseFlags, UsageError } from '../../base/flags/flags.ts'
import { errorFields, type Log, openLog } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import { StoreDamaged, type StoreError } from '../../storage/store/store.ts'
import { explainFailure } from '../assembly/explain-failure.ts'
import { startServerWithLoops } from '../cluster/server-with-loops.ts'
import { backupCommandFlags } from '../flags/backup.ts'
import {
  allFlagsOf,
  assertLoopNames,
  flagGroupsOf,
  readServerFlags,
  type ServerCommand,
  type ServerCommandLine,
} from '../flags/command-line.ts'
import { withConfigurationFile } from '../flags/configuration-file.ts'
import type { ServerOptions } from '../flags/options.ts'
import { withoutUnsupported } from '../flags/unsupported-flag.ts'
import { unsupportedApiServerFlags, unsupportedManagerFlags } from '../flags/unsupported-flags.ts'
import { type ConsoleOpening, openConsole } from './console-link.ts'
import { ephemeralGreeting, whenAbandoned, withEphemeralDefaults } from './ephemeral.ts'
import { greeting } from './greeting.ts'
import { commandNames, helpFor } from './help.ts'
import { notifyManager } from './service-manager.ts'

/**
 * Runs the command. An error that the user can fix is printed as one line on standard error, and the process exits with
 * code 1.
 */
export function main(args: readonly string[]): void {
  // A failed write to the output, for example on a full disk or to a closed pipe, must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  obey(args).catch(fail)
}

async function obey(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  if (command === undefined || asksForHelp(command, rest)) {
    const topic = command === 'help' ? rest.find((word) => !word.startsWith('-')) : command
    process.stdout.write(await helpFor(topic?.startsWith('-') ? undefined : topic, process.stdout.columns))
    process.exitCode = command === undefined ? 2 : 0
    return
  }
  if (command === 'envtest') return await obeyEnvtest(rest)
  if (command === 'version' || command === '--version') {
    process.stdout.write(`orch ${version} (node ${process.versions.node})\n`)
    return
  }
  if (command === 'controller-manager') return await runManager(rest)
  if (command === 'join' || command === 'token') return await runJoining(command, rest)
  if (command === 'node-agent') return await runNodeAgent(rest)
  if (command === 'encryption') {
    const { encryptionCommand } = await import('./encryption-command.ts')
    return await encryptionCommand(rest, (line) => process.stdout.write(`${line}\n`))
  }
  if (command === 'config') {
    const { configCommand } = await import('./config-command.ts')
    process.stdout.write(await configCommand(rest))
    return
  }
  if (command === 'status') {
    const { statusCommand } = await import('./status-command.ts')
    const { report, ready } = await statusCommand(rest)
    process.stdout.write(report)
    process.exitCode = ready ? 0 : 1
    return
  }
  if (command === 'reset') {
    const { processTerminal, resetCommand } = await import('./reset-command.ts')
    process.stdout.write(await resetCommand(rest, processTerminal()))
    return
  }
  if (isBackupCommand(command)) return await runBackupCommand(command, rest)
  if (command !== 'up' && command !== 'apiserver')
    throw new UsageError(`unknown command ${JSON.stringify(command)}: use ${commandNames.join(', ')} or help`)
  const supportedFlags = await allFlagsOf(command)
  const supported = withoutUnsupported(rest, supportedFlags, unsupportedApiServerFlags)
  const configured = await withConfigurationFile(supported, async () => await flagGroupsOf(command))
  const flags = withEphemeralDefaults(configured, supportedFlags)
  const line = await readServerFlags(command, flags)
  await assertLoopNames(line)
  await run(line, { command, flags })
}

/**
 * Whether the arguments request the help for a command. The replacement programs in `orch envtest` print their own help
 * texts.
 */
function asksForHelp(command: string, rest: readonly string[]): boolean {
  if (command === 'help' || command === '--help' || command === '-h') return true
  const isStandIn = command === 'envtest' && rest.length > 0 && !rest[0]!.startsWith('-') && rest[0] !== 'install'
  return !isStandIn && (rest.includes('--help') || rest.includes('-h'))
}

async function obeyEnvtest(args: readonly string[]): Promise<void> {
  const { envtestCommand } = await import('./envtest.ts')
  const serverArgs = await envtestCommand(args)
  if (serverArgs !== undefined) await obey(['apiserver', ...serverArgs])
}

async function run(line: ServerCommandLine, givenFlags: GivenFlags): Promise<void> {
  const { options } = line
  const log = openLog({ level: options.verbosity, format: options.loggingFormat })
  process.on('unhandledRejection', (error) => log.error('unhandled promise rejection', errorFields(error)))
  const stopping = new AbortController()
  const startContext = { log, stopping: stopping.signal }
  const starting = unlessStopped(
    hasWorkers(options) ? startWorkers(line, givenFlags, startContext) : start(line, startContext),
    startContext,
  )
  let isServing = false
  stopOnSignal(async () => {
    log.info('stopping')
    stopping.abort()
    void notifyManager('STOPPING=1', log)
    // The delay gives clients and load balancers time to notice that the server is not ready. A server that has never
    // been ready has no clients.
    if (isServing) await pause(options.shutdownDelay)
    // If the start takes longer than the grace period, stop waiting, because there is nothing to close yet.
    const stop = await Promise.race([starting, pause(options.shutdownGrace)])
    await stop?.()
  })
  if (options.ephemeral) whenAbandoned(() => process.kill(process.pid, 'SIGTERM'))
  await starting
  isServing = true
  if (!stopping.signal.aborted) await notifyManager('READY=1', log)
}

/**
 * Waits until a start has finished. If the start fails because the program is stopping, returns undefined instead of
 * throwing.
 */
async function unlessStopped<T>(starting: Promise<T>, { log, stopping }: StartContext): Promise<T | undefined> {
  try {
    return await starting
  } catch (error) {
    if (!stopping.aborted) throw error
    log.info('startup canceled', { error: messageOf(error) })
    return undefined
  }
}

/** Loads the code for joining a cluster on demand, because a server does not need it. */
async function joining() {
  const [joins, tokens] = await Promise.all([
    import('../../tools/joining/join.ts'),
    import('../../tools/joining/token-commands.ts'),
  ])
  return { ...joins, ...tokens }
}

async function runJoining(command: 'join' | 'token', args: readonly string[]): Promise<void> {
  const { join, joinFlags, tokenCommand } = await joining()
  if (command === 'token') return await tokenCommand(args, (line) => process.stdout.write(`${line}\n`))
  await join(parseFlags(joinFlags, args), (line) => process.stderr.write(`${line}\n`))
}

/** Runs `orch node-agent` until a signal arrives. */
async function runNodeAgent(args: readonly string[]): Promise<void> {
  const { nodeAgentFlags } = await import('../flags/node-agent.ts')
  const { startNodeAgent } = await import('../node-agent/node-agent.ts')
  const options = parseFlags(nodeAgentFlags, args)
  const log = openLog({ level: options.verbosity, format: options.loggingFormat })
  process.on('unhandledRejection', (error) => log.error('unhandled promise rejection', errorFields(error)))
  const stopping = new AbortController()
  const startContext = { log, stopping: stopping.signal }
  const starting = unlessStopped(startNodeAgent(options, startContext), startContext)
  stopOnSignal(async () => {
    log.info('stopping')
    stopping.abort()
    await (await starting)?.stop()
  })
  if ((await starting) !== undefined) void notifyManager('READY=1', log)
}

function isBackupCommand(command: string): boolean {
  return Object.hasOwn(backupCommandFlags, command)
}

async function runBackupCommand(command: string, args: readonly string[]): Promise<void> {
  const { backupCommand } = await import('../backup/run-command.ts')
  if (!(await backupCommand(command, args))) process.exitCode = 1
}

/** Runs `orch controller-manager` until a signal arrives or the Lease is lost. */
async function runManager(args: readonly string[]): Promise<void> {
  const [{ allManagerFlags }, { startControllerManager }] = await Promise.all([
    import('../flags/controller-manager.ts'),
    import('../manager/controller-manager.ts'),
  ])
  const options = parseFlags(allManagerFlags, withoutUnsupported(args, allManagerFlags, unsupportedManagerFlags))
  const log = openLog({ level: options.verbosity, format: options.loggingFormat })
  process.on('unhandledRejection', (error) => log.error('unhandled promise rejection', errorFields(error)))
  const manager = await startControllerManager(options, log)
  void notifyManager('READY=1', log)
  stopOnSignal(async () => {
    log.info('stopping')
    void notifyManager('STOPPING=1', log)
    await manager.stop()
  })
  await manager.lost
  log.error('lost the leader-election lease; exiting; restart the manager to join the election again')
  await Promise.race([manager.stop(), pause(noticeMs)])
  process.exit(1)
}

/** The server command and its flags, as given on the command line. */
interface GivenFlags {
  readonly command: ServerCommand
  readonly flags: readonly string[]
}

interface StartContext {
  readonly log: Log
  /** Aborts when a signal asks the program to stop. */
  readonly stopping: AbortSignal
}

/** Starts the server. Returns a function that stops it. */
async function start(line: ServerCommandLine, startContext: StartContext): Promise<() => Promise<void>> {
  const { log } = startContext
  const console = openConsole(line)
  const running = await startServerWithLoops(line, { ...startContext, console: console.access })
  announce(running.server.url, { line, console, log })
  running.startLoops()
  stopWhenFailed(running.server.failed, running.stop, { line, log })
  return running.stop
}

/**
 * Whether requests may be served by several threads. With `auto`, this requires several CPU cores and persistent data.
 */
function hasWorkers({ workers, ephemeral }: ServerOptions): boolean {
  return workers === 'auto' ? !ephemeral && availableParallelism() > 1 : workers > 1
}

/**
 * Starts a server with several workers. Loads the code on demand, because a server with one worker does not need it.
 */
async function startWorkers(
  line: ServerCommandLine,
  givenFlags: GivenFlags,
  startContext: StartContext,
): Promise<() => Promise<void>> {
  const { log } = startContext
  const { startSupervisor } = await import('../workers/supervisor.ts')
  const console = openConsole(line)
  const supervisor = await startSupervisor(line, { ...givenFlags, console: console.secrets }, startContext)
  announce(supervisor.url, { line, console, log })
  stopWhenFailed(supervisor.failed, supervisor.stop, { line, log })
  return supervisor.stop
}

interface Announced {
  readonly line: ServerCommandLine
  readonly console: ConsoleOpening
  readonly log: Log
}

function announce(url: string, { line: { options, up }, console, log }: Announced): void {
  if (options.ephemeral) process.stdout.write(ephemeralGreeting(url, options))
  else if (up !== undefined) process.stdout.write(greeting(url, options, console.address(url)))
  else log.info('serving', { url, profile: options.profile })
}

function stopWhenFailed(
  failed: Promise<StoreError>,
  stop: () => Promise<void>,
  { line, log }: { line: ServerCommandLine; log: Log },
): void {
  void failed.then((error) => {
    if (error instanceof StoreDamaged) log.error(error.message)
    else
      log.error('the store is no longer writable; stopping the server; check the disk before you restart it', {
        error: error.message,
      })
    return endAfterFailure(stop, line.options.shutdownGrace)
  })
}

/** Delay in milliseconds before a failed server exits, so that a readiness probe can report the reason. */
const noticeMs = 1_000

/**
 * Stops the server and exits. Always exits after the grace period, because a failing disk may prevent the store from
 * closing.
 */
async function endAfterFailure(stop: () => Promise<void>, graceMs: number): Promise<never> {
  await pause(noticeMs)
  await Promise.race([stop(), pause(graceMs + noticeMs)]).catch(() => {})
  process.exit(1)
}

/** Stops gracefully on the first signal and immediately on the second. */
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

function fail(error: unknown): never {
  process.stderr.write(`orch: ${explainFailure(error)}\n`)
  process.exit(1)
}
