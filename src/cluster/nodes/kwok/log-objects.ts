/** Output of containers, as specified by Logs and ClusterLogs objects, and by Attach and ClusterAttach objects. */
import type { Json } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ContainerLog } from '../../node-port/container-log.ts'
import { text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import type { FollowedObjects } from './follow-objects.ts'
import type { Following, LogFiles } from './log-files.ts'
import { PodRules, type RuleType } from './pod-rules.ts'

/** The log files of a container. */
export interface LogFileNames {
  readonly logsFile: string
  readonly previousLogsFile: string | undefined
  /** Whether a client that follows the log receives the lines that are written to the file later. */
  readonly follows: boolean
}

/** The rules of Logs and ClusterLogs objects. */
export const logRules: RuleType<LogFileNames> = {
  list: 'logs',
  subjects: 'containers',
  fields: ['logsFile', 'previousLogsFile', 'follow'],
  read: ({ logsFile, previousLogsFile, follow }, where) => ({
    logsFile: text(logsFile, `${where}.logsFile`),
    previousLogsFile: previousLogsFile === undefined ? undefined : text(previousLogsFile, `${where}.previousLogsFile`),
    follows: readBoolean(follow, `${where}.follow`),
  }),
}

/** The rules of Attach and ClusterAttach objects: the files with the output. */
export const attachRules: RuleType<string> = {
  list: 'attaches',
  subjects: 'containers',
  fields: ['logsFile'],
  read: ({ logsFile }, where) => text(logsFile, `${where}.logsFile`),
}

function readBoolean(value: Json | undefined, where: string): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw new StageError(`${where} is not true or false`)
  return value === true
}

/** The container instance whose log is requested. */
export interface LogSubject {
  readonly pod: Pod
  readonly container: string
  readonly instance: 'last' | 'previous'
  /** Set if the reader follows the log. */
  readonly following?: Following | undefined
}

/** The objects of each pair of kinds. */
interface FollowedLogs {
  readonly logs: readonly [own: FollowedObjects, cluster: FollowedObjects]
  readonly attaches: readonly [own: FollowedObjects, cluster: FollowedObjects]
}

/** Finds the output of containers. */
export class LogObjects {
  readonly #logs: PodRules<LogFileNames>
  readonly #attaches: PodRules<string>
  readonly #files: LogFiles

  constructor({ logs, attaches }: FollowedLogs, files: LogFiles) {
    this.#logs = new PodRules(logRules, ...logs)
    this.#attaches = new PodRules(attachRules, ...attaches)
    this.#files = files
  }

  /** Returns the log of a container, or undefined if no object specifies it. */
  logOf({ pod, container, instance, following }: LogSubject): ContainerLog | undefined {
    const names = this.#logs.find(pod, container)
    const file = instance === 'last' ? names?.logsFile : names?.previousLogsFile
    if (names === undefined || file === undefined) return undefined
    const isFollowed = following !== undefined && names.follows && instance === 'last'
    return isFollowed ? this.#files.follow(file, following) : this.#files.read(file)
  }

  /** Returns the output that a client attached to a container receives, or undefined if no object specifies it. */
  outputOf(pod: Pod, container: string, following: Following): ContainerLog | undefined {
    const file = this.#attaches.find(pod, container)
    return file === undefined ? undefined : this.#files.follow(file, following)
  }
}
