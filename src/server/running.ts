/** An API server with what runs beside it: the control loops and what lets others join, where `orch up` asked for them. */
import { type ApiServer, type Environment, startApiServer } from './api-server.ts'
import { startClusterInfo } from './cluster-info.ts'
import type { ServerCommandLine } from './command-line.ts'
import { type LoopFiles, startOwnControlLoops } from './control-loops.ts'
import { readFlagFile } from './read-flag-file.ts'
import { readSchedulerSettings } from './scheduler-configuration.ts'

export interface Running {
  readonly server: ApiServer
  /** Starts what runs beside the server; of several workers one does. */
  startLoops(): void
  /** Ends all of it, in order. */
  stop(): Promise<void>
}

export async function startRunning({ options, up }: ServerCommandLine, environment: Environment): Promise<Running> {
  const files = await readLoopFiles(up)
  const server = await startApiServer(options, {
    ...environment,
    defaultLimits: up?.defaultLimitRange ?? false,
    defaultStorageClass: up?.defaultStorageClass ?? false,
  })
  let loops: readonly { stop(): Promise<void> }[] = []
  return {
    server,
    startLoops: () => {
      if (up !== undefined) loops = [startClusterInfo(server, up), startOwnControlLoops(server, up, files)]
    },
    stop: async () => {
      await Promise.all(loops.map((each) => each.stop()))
      await server.stop()
    },
  }
}

/** A fault in them ends the start. */
async function readLoopFiles(up: ServerCommandLine['up']): Promise<LoopFiles> {
  if (up === undefined) return {}
  const scheduler = await readSchedulerSettings(up.schedulerConfig)
  const settings = scheduler === undefined ? {} : { scheduler }
  if (up.nodes === 0 || up.nodeStages.length === 0) return settings
  const { readStageFiles } = await import('../nodes/stages/read-stage-files.ts')
  return { ...settings, podStages: readStageFiles(up.nodeStages, (file) => readFlagFile('node-stages', file)) }
}
