/** Container output that Logs, ClusterLogs, Attach and ClusterAttach objects specify. */
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
  /** Whether to follow the file, so that new lines are sent to a client that follows the log. */
  readonly follows: boolean
}

/** Describes the `logs` field of Logs and ClusterLogs objects, and parses its rules. */
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

/** Describes the `attaches` field of Attach and ClusterAttach objects, and parses its rules. */
export const attachRules: RuleType<string> = {
  list: 'attaches',
  subjects: 'containers',
  fields: ['logsFile'],
  read: ({ logsFile }, where) => text(logsFile, `${where}.logsFile`),
}

function readBoolean(value: Json | undefined, where: string): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw new StageError(`${where} must be true or false`)
  return value === true
}

/** The container instance whose log is requested. */
export interface LogSubject {
  readonly pod: Pod
  readonly container: string
  readonly instance: 'last' | 'previous'
  /** The reader that follows the log. Undefined if the log is read only once. */
  readonly following?: Following | undefined
}

/** The namespaced and the cluster-scoped objects that specify logs and the output of attached containers. */
interface FollowedLogs {
  readonly logs: readonly [own: FollowedObjects, cluster: FollowedObjects]
  readonly attaches: readonly [own: FollowedObjects, cluster: FollowedObjects]
}

/** Looks up the log files that KWOK objects specify as the output of containers. */
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
