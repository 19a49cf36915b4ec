/**
 * Reads the resource usage of nodes and pods from the simulated or real node agents (`/stats/summary`). A response is
 * cached for a few seconds and shared by all readers. Agents are separate programs, so the server accepts only numbers
 * from their responses and skips everything else.
 */

import { parseSliced } from '../../api/codec/json.ts'
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import type { Node } from '../../api/kinds/core/node.ts'
import { ApiError } from '../../api/model/api-error.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { TaskPool } from '../../base/concurrency/task-pool.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Clock } from '../../base/time/clock.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import type { HttpsCaller } from '../outbound/https-caller.ts'
import { assertFewValues } from '../outbound/json-effort.ts'
import type { NodeConnector } from './node-connector.ts'

/** CPU and memory usage as quantities, in the format of the metrics API. */
export interface Usage {
  readonly cpu: string
  readonly memory: string
}

/** The usage of one node and its pods, as reported by the node's agent. */
export interface NodeUsageReport {
  /** Time of the measurement, in RFC 3339 format. */
  readonly time: string
  readonly usage: Usage
  /** The usage of each pod's containers, by pod UID. */
  readonly pods: ReadonlyMap<string, PodUsageReport>
}

export interface PodUsageReport {
  readonly time: string
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[]
}

export interface NodeUsageParts {
  readonly ways: Pick<NodeConnector, 'toAgent'>
  readonly caller: HttpsCaller
  readonly clock: Clock
}

/** Maximum age of a cached report, in milliseconds. */
const maxAgeMs = 5000
/** Maximum time in milliseconds to wait for a node's response. After this time, the node is omitted. */
const timeoutMs = 5000
/** Maximum number of agents that the server queries concurrently for one request. */
const concurrency = 16

export class NodeUsage {
  readonly #parts: NodeUsageParts
  readonly #reports: TtlCache<NodeUsageReport | undefined>

  constructor(parts: NodeUsageParts) {
    this.#parts = parts
    this.#reports = new TtlCache(parts.clock)
  }

  /** Returns the reports by node name. Omits nodes that are not ready or whose agents do not respond. */
  async of(nodes: readonly Node[]): Promise<Map<string, NodeUsageReport>> {
    const reports = new Map<string, NodeUsageReport>()
    const pool = new TaskPool(concurrency)
    for (const node of nodes.filter(isReady)) {
      await pool.room()
      pool.run(async () => {
        const name = node.metadata.name ?? ''
        const report = await this.#reports.get(name, async () => ({ value: await this.#read(node), ttlMs: maxAgeMs }))
        if (report !== undefined) reports.set(name, report)
      })
    }
    await pool.settled()
    return reports
  }

  async #read(node: Node): Promise<NodeUsageReport | undefined> {
    const { ways, caller } = this.#parts
    try {
      const destination = await ways.toAgent(node)
      const { body } = await caller.get({ destination, path: '/stats/summary', timeoutMs })
      assertFewValues(body)
      return reportOf((await new TimeSlice().run(parseSliced(body))).value)
    } catch (error) {
      // Omit a node whose agent cannot be reached, as other metrics servers do.
      if (error instanceof CallError || error instanceof ApiError) return undefined
      throw error
    }
  }
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true
}

function reportOf(summary: Json): NodeUsageReport | undefined {
  const node = memberOf(summary, 'node')
  const measured = usageIn(node)
  if (measured === undefined) return undefined
  const pods = listIn(summary, 'pods').flatMap((pod) => {
    const uid = textIn(memberOf(pod, 'podRef'), 'uid')
    const containers = listIn(pod, 'containers').flatMap((container) => {
      const used = usageIn(container)
      return used === undefined ? [] : [{ name: textIn(container, 'name'), usage: used.usage }]
    })
    return uid === '' || containers.length === 0
      ? []
      : [[uid, { time: usageIn(pod)?.time ?? measured.time, containers }] as const]
  })
  return { ...measured, pods: new Map(pods) }
}

/**
 * Reads the CPU and memory usage of a node or container in an agent's summary. Returns undefined if a number or the
 * time is missing.
 */
function usageIn(part: Json): { readonly time: string; readonly usage: Usage } | undefined {
  const cpu = memberOf(part, 'cpu')
  const nanoCores = numberIn(cpu, 'usageNanoCores')
  const bytes = numberIn(memberOf(part, 'memory'), 'workingSetBytes')
  const time = Date.parse(textIn(cpu, 'time'))
  if (nanoCores === undefined || bytes === undefined || Number.isNaN(time)) return undefined
  return {
    time: new Date(time).toISOString().replace(/\.\d+Z$/, 'Z'),
    usage: { cpu: coresText(nanoCores), memory: bytesText(bytes) },
  }
}

function coresText(nanoCores: number): string {
  return nanoCores % 1e6 === 0 ? `${nanoCores / 1e6}m` : `${nanoCores}n`
}

function bytesText(bytes: number): string {
  return bytes % 1024 === 0 ? `${bytes / 1024}Ki` : String(bytes)
}

function memberOf(value: Json, name: string): JsonObject {
  const member = isObject(value) ? own(value, name) : undefined
  return isObject(member) ? member : {}
}

function listIn(value: Json, name: string): readonly Json[] {
  const member = isObject(value) ? own(value, name) : undefined
  return Array.isArray(member) ? member : []
}

function textIn(value: Json, name: string): string {
  const member = isObject(value) ? own(value, name) : undefined
  return typeof member === 'string' ? member : ''
}

function numberIn(value: Json, name: string): number | undefined {
  const member = isObject(value) ? own(value, name) : undefined
  return typeof member === 'number' && Number.isSafeInteger(member) && member >= 0 ? member : undefined
}
