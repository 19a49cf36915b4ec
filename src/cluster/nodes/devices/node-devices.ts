/**
 * Simulated devices. Every simulated node reads device descriptions from a file and publishes the devices as
 * ResourceSlices, as a device driver would. The Node object owns the slices, so they are deleted with the node.
 */
import { parseYamlDocuments } from '../../../api/codec/yaml-text.ts'
import { defined, isObject, type Json, type JsonObject, sameJson } from '../../../api/json/json.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { ResourceSlice } from '../../../api/kinds/resource/resource-slice.ts'
import { asJson } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf, type ResourceType } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'

/** Devices of one driver, which every node has. */
export interface SimulatedDevices {
  readonly driver: string
  readonly devices: readonly Json[]
  /** Counters that the devices of a node share. They are published in a separate slice. */
  readonly sharedCounters: readonly Json[]
}

const maxFileBytes = 1024 * 1024
const fields = ['driver', 'devices', 'sharedCounters']

/**
 * Parses a file that contains ResourceSlices with `spec.driver`, `spec.devices` and `spec.sharedCounters`. Each node adds its own name and
 * pool. Throws an Error that names the invalid field.
 */
export function readDevices(text: string): SimulatedDevices[] {
  if (text.length > maxFileBytes) throw new Error(`the file is longer than ${maxFileBytes} bytes`)
  const documents = parseYamlDocuments(text, maxFileBytes).flatMap(({ value }) => (value === null ? [] : [value]))
  const pools = documents.map(readSlice)
  if (new Set(pools.map(({ driver }) => driver)).size < pools.length)
    throw new Error('each driver may have only one ResourceSlice')
  return pools
}

function readSlice(value: Json): SimulatedDevices {
  const { kind, spec } = isObject(value) ? value : ({} as JsonObject)
  if (kind !== 'ResourceSlice')
    throw new Error(
      `the file contains ${kind === undefined ? 'a document without a kind' : `a ${String(kind)}`} instead of a ResourceSlice`,
    )
  if (!isObject(spec)) throw new Error('spec is required')
  const other = Object.keys(spec).find((name) => !fields.includes(name))
  if (other !== undefined) throw new Error(`spec.${other} is not supported; supported fields are ${fields.join(', ')}`)
  const { driver, devices, sharedCounters = [] } = spec
  if (typeof driver !== 'string' || driver === '') throw new Error('spec.driver is required')
  if (!Array.isArray(devices) || devices.length === 0) throw new Error('spec.devices is required')
  if (!Array.isArray(sharedCounters)) throw new Error('spec.sharedCounters must be a list')
  return { driver, devices, sharedCounters }
}

export interface PublishParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly node: Node
}

/** Creates the slices of a node. If they differ from the stored slices, they become the next generation of their pool. */
export async function publishDevices(
  { client, vendor, node }: PublishParts,
  pools: readonly SimulatedDevices[],
  signal: AbortSignal,
): Promise<void> {
  const type = inDomainOf(vendor, kinds.ResourceSlice)
  const { name: nodeName = '', uid = '' } = node.metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true }]
  for (const { driver, devices, sharedCounters } of pools) {
    const name = `${nodeName}-${driver}`
    // A slice contains either devices or counters.
    const contents = new Map<string, object>([[name, { devices }]])
    if (sharedCounters.length > 0) contents.set(`${name}-counters`, { sharedCounters })
    const sliceOf = (slice: string, generation: number) => {
      const pool = { name: nodeName, generation, resourceSliceCount: contents.size }
      const spec = { driver, nodeName, pool, ...contents.get(slice) }
      return { metadata: { name: slice, ownerReferences }, spec } as ResourceSlice
    }
    const current: ResourceSlice[] = []
    for (const slice of contents.keys()) current.push(await createOrGet(client, sliceOf(slice, 1), { type, signal }))
    const newest = Math.max(...current.map(generationOf))
    const isCurrent = (slice: ResourceSlice) =>
      generationOf(slice) === newest && isSameContent(slice, sliceOf(slice.metadata.name ?? '', newest))
    if (current.every(isCurrent)) continue
    for (const slice of current) {
      const { spec } = sliceOf(slice.metadata.name ?? '', newest + 1)
      await client.update(type, { ...slice, spec } as ResourceSlice, { signal })
    }
  }
}

function generationOf({ spec }: ResourceSlice): number {
  return Number(spec?.pool?.generation ?? 0)
}

function isSameContent({ spec: a = {} }: ResourceSlice, { spec: b = {} }: ResourceSlice): boolean {
  const contentOf = ({ devices, sharedCounters, pool }: NonNullable<ResourceSlice['spec']>) =>
    asJson(defined({ devices, sharedCounters, count: Number(pool?.resourceSliceCount ?? 0) }))
  return sameJson(contentOf(a), contentOf(b))
}

/**
 * Creates a slice, or returns the stored one. Tries to create it first, because the node authorizer does not allow a
 * node to read a slice that does not exist.
 */
async function createOrGet(
  client: Client,
  slice: ResourceSlice,
  { type, signal }: { readonly type: ResourceType<ResourceSlice>; readonly signal: AbortSignal },
): Promise<ResourceSlice> {
  try {
    return await client.create(type, slice, { signal })
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
    return await client.get(type, { name: slice.metadata.name ?? '' }, { signal })
  }
}
