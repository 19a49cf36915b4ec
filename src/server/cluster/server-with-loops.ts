/** An API server with its control loops and, for `orch up`, the objects that allow nodes to join. */
import { statSync } from 'node:fs'
import { isAtLeast } from '../../api/versions/emulated-version.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { RunningLoops } from '../../client/reconcile/loop.ts'
import { type ApiServer, startApiServer } from '../assembly/api-server.ts'
import type { Environment } from '../assembly/environment.ts'
import type { ServerCommandLine } from '../flags/command-line.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { UpOptions } from '../flags/up.ts'
import type { LoopFiles } from './control-loops.ts'

/** An API server whose control loops can be started. */
export interface RunningServer {
  readonly server: ApiServer
  /** Starts the control loops. If there are several workers, only one of them calls this method. */
  startLoops(): void
  /** Stops the loops, then the server. */
  stop(): Promise<void>
}

/** Starts the API server. The control loops start only when `startLoops` is called. */
export async function startServerWithLoops(
  { options, up }: ServerCommandLine,
  environment: Environment,
): Promise<RunningServer> {
  const prepared = up === undefined ? undefined : await prepareLoops(up)
  const server = await startApiServer(options, {
    ...environment,
    restrictsNodes: up !== undefined,
    servesMetrics: up !== undefined,
    defaultLimits: up?.defaultLimitRange ?? false,
    defaultStorageClass: up?.defaultStorageClass ?? false,
  })
  try {
    assertServesDevices(prepared?.files.devices, server)
  } catch (error) {
    await server.stop()
    throw error
  }
  let loops: readonly RunningLoops[] = []
  return {
    server,
    startLoops: () => {
      loops = prepared?.start(server) ?? []
    },
    stop: async () => {
      await Promise.all(loops.map((each) => each.stop()))
      await server.stop()
    },
  }
}

/** The first Kubernetes version that serves the kind of ResourceSlices that simulated nodes publish. */
const firstVersionWithDevices = '1.34'
const counterGate = 'DRAPartitionableDevices'

/**
 * Throws UsageError if simulated nodes are to publish devices but the emulated version has no ResourceSlices, or no
 * shared counters. The version is known only after the server has started, because it may come from the store.
 */
function assertServesDevices(devices: LoopFiles['devices'], { emulatedVersion, emulation }: ApiServer): void {
  if (devices === undefined) return
  if (!isAtLeast(emulatedVersion, firstVersionWithDevices))
    throw new UsageError(
      `--node-devices requires Kubernetes ${firstVersionWithDevices} or later, but the server emulates ${emulatedVersion}: set --emulated-version`,
    )
  if (devices.some(({ sharedCounters }) => sharedCounters.length > 0) && !emulation.gates.has(counterGate))
    throw new UsageError(
      `--node-devices: spec.sharedCounters requires the feature gate ${counterGate}, which is off in Kubernetes ${emulatedVersion}: set --emulated-version or --feature-gates`,
    )
}

type UpLine = NonNullable<ServerCommandLine['up']>

/**
 * Loads the modules and files of the control loops, which a plain API server does not need. Returns the files, and a
 * function that starts the loops.
 */
async function prepareLoops(up: UpLine): Promise<PreparedLoops> {
  const [{ startClusterInfo }, { startOwnControlLoops }, files] = await Promise.all([
    import('./cluster-info.ts'),
    import('./control-loops.ts'),
    readLoopFiles(up),
  ])
  return { files, start: (server) => [startClusterInfo(server, up), startOwnControlLoops(server, up, files)] }
}

interface PreparedLoops {
  readonly files: LoopFiles
  readonly start: (server: ApiServer) => RunningLoops[]
}

/** Reads the files of the control loops. Throws UsageError if a file or directory is invalid. */
export async function readLoopFiles(up: UpOptions): Promise<LoopFiles> {
  const { readSchedulerSettings } = await import('../flags/scheduler-configuration.ts')
  const scheduler = await readSchedulerSettings(up.schedulerConfig)
  const settings = scheduler === undefined ? {} : { scheduler }
  if (up.nodes === 0) return settings
  assertLogDirectory(up)
  return { ...settings, ...(await readStages(up)), ...(await readNodeDevices(up)) }
}

async function readStages({ nodeStages }: Pick<UpOptions, 'nodeStages'>): Promise<Pick<LoopFiles, 'stageTexts'>> {
  if (nodeStages.length === 0) return {}
  const { readStageFiles } = await import('../../cluster/nodes/stages/read-stage-files.ts')
  const stageTexts = new Map(nodeStages.map((file) => [file, readFlagFile('node-stages', file)]))
  readStageFiles(nodeStages, (file) => stageTexts.get(file)!)
  return { stageTexts }
}

function assertLogDirectory({ simulationLogs }: Pick<UpOptions, 'simulationLogs'>): void {
  if (simulationLogs === '' || statSync(simulationLogs, { throwIfNoEntry: false })?.isDirectory()) return
  throw new UsageError(`--simulation-logs: ${simulationLogs} is not an existing directory`)
}

async function readNodeDevices({
  nodeDevices: file,
}: Pick<UpOptions, 'nodeDevices'>): Promise<Pick<LoopFiles, 'devices'>> {
  if (file === '') return {}
  const { readDevices } = await import('../../cluster/nodes/devices/node-devices.ts')
  try {
    return { devices: readDevices(readFlagFile('node-devices', file)) }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--node-devices: ${file}: ${messageOf(error)}`)
  }
}
