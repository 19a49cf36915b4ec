/**
 * Logs of containers, as specified by Logs and ClusterLogs objects. Logs come from files in a directory that the flag
 * `--simulation-logs` names. Files outside of the directory cannot be read, because objects in the API must not give
 * access to the files of the server's machine.
 */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import type { Json } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { ContainerLog } from '../../node-port/container-log.ts'
import { array, fields, object, text } from '../stages/fields.ts'
import { StageError } from '../stages/stage-error.ts'
import { CompiledObjects, NamedObjects } from './compiled-objects.ts'
import type { FollowedObjects } from './follow-objects.ts'
import { readPodSelector, type SelectsPod } from './pod-selector.ts'

/** A rule that reads the logs of certain containers from a file. */
export interface LogRule {
  /** Names of the containers that the rule applies to. Undefined means all containers. */
  readonly containers: ReadonlySet<string> | undefined
  readonly logsFile: string
  readonly previousLogsFile: string | undefined
}

/** A compiled ClusterLogs object: the pods it selects, and their log files. */
export interface ClusterLogRules {
  readonly selects: SelectsPod
  readonly logs: readonly LogRule[]
}

const maxRules = 32
/** Number of bytes to read from the end of a file. */
const maxBytes = 256 * 1024

/** Reads a Logs object, which applies to the pod of the same name. Throws StageError. */
export function readLogs(value: Json): readonly LogRule[] {
  return readRules(fields(object(value, 'the object').spec, 'spec', ['logs']).logs)
}

/** Reads a ClusterLogs object, which applies to the pods that it selects. Throws StageError. */
export function readClusterLogs(value: Json): ClusterLogRules {
  const spec = fields(object(value, 'the object').spec, 'spec', ['selector', 'logs'])
  return { selects: readPodSelector(spec.selector), logs: readRules(spec.logs) }
}

function readRules(value: Json | undefined): LogRule[] {
  const rules = array(value, 'spec.logs')
  if (rules.length > maxRules) throw new StageError(`spec.logs has more than ${maxRules} elements`)
  return rules.map((each, i) => {
    const where = `spec.logs[${i}]`
    const rule = fields(each, where, ['containers', 'logsFile', 'previousLogsFile', 'follow'])
    if (rule.follow === true)
      throw new StageError(`${where}.follow is not supported: the file is read once per request`)
    const names = array(rule.containers, `${where}.containers`).map((name) => text(name, `${where}.containers`))
    const { previousLogsFile } = rule
    return {
      containers: names.length === 0 ? undefined : new Set(names),
      logsFile: text(rule.logsFile, `${where}.logsFile`),
      previousLogsFile:
        previousLogsFile === undefined ? undefined : text(previousLogsFile, `${where}.previousLogsFile`),
    }
  })
}

/** The container instance whose log is requested. */
export interface LogSubject {
  readonly pod: Pod
  readonly container: string
  readonly instance: 'last' | 'previous'
  /** Timestamp for the returned lines. */
  readonly now: number
}

/** Finds the logs of containers. Objects for one pod take precedence over those for the cluster. */
export class LogObjects {
  readonly #own: NamedObjects<readonly LogRule[]>
  readonly #cluster: CompiledObjects<ClusterLogRules>
  readonly #directory: string | undefined

  /** Without a directory, no log file can be read. */
  constructor(own: FollowedObjects, cluster: FollowedObjects, directory: string | undefined) {
    this.#own = new NamedObjects(own.informer, readLogs)
    this.#cluster = new CompiledObjects(cluster.informer, readClusterLogs)
    this.#directory = directory
  }

  /**
   * Returns the log of a container, or undefined if no object specifies it. If the file cannot be read, the log contains
   * the reason.
   */
  logOf({ pod: { metadata }, container, instance, now }: LogSubject): ContainerLog | undefined {
    const { namespace = '', name = '' } = metadata
    const selected = this.#cluster.all.flatMap(({ selects, logs }) => (selects({ metadata }) ? logs : []))
    const rules = [...(this.#own.get({ namespace, name }) ?? []), ...selected]
    const rule = rules.find(({ containers }) => containers?.has(container) !== false)
    const file = instance === 'last' ? rule?.logsFile : rule?.previousLogsFile
    if (file === undefined) return undefined
    const log = new ContainerLog()
    const content = readEnd(this.#directory, file)
    if (content !== '') log.append(now, content)
    log.end()
    return log
  }
}

function readEnd(directory: string | undefined, file: string): string {
  if (directory === undefined) return `cannot read ${file}: the flag --simulation-logs names no directory`
  try {
    const parent = realpathSync(directory)
    const path = realpathSync(resolve(parent, file))
    if (!path.startsWith(parent + sep)) return `cannot read ${file}: it is not in the directory of --simulation-logs`
    return endOfFile(path)
  } catch (error) {
    return `cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? 'the path is invalid'}`
  }
}

/** Reads the last bytes of a regular file, starting with a whole line. Opening a named pipe does not block. */
function endOfFile(path: string): string {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile()) return 'the log is not a regular file'
    const start = Math.max(0, stat.size - maxBytes)
    const bytes = Buffer.alloc(stat.size - start)
    const length = readSync(handle, bytes, 0, bytes.length, start)
    const content = bytes.toString('utf8', 0, length)
    return start === 0 ? content : content.slice(content.indexOf('\n') + 1)
  } finally {
    closeSync(handle)
  }
}
