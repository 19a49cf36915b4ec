/**
 * Simulated devices: every simulated node publishes the devices described in a file as ResourceSlices, as a device
 * driver would. The slices belong to the Node object, so they disappear with the node.
 */
import { parseYamlDocuments } from '../../../api/codec/yaml-text.ts'
import { isObject, type Json, type JsonObject, sameJson } from '../../../api/json/json.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { ResourceSlice } from '../../../api/kinds/resource/resource-slice.ts'
import { asJson } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'

/** Devices of one driver. Every node has them. */
export interface SimulatedDevices {
  readonly driver: string
  readonly devices: readonly Json[]
}

const maxFileBytes = 1024 * 1024
const fields = ['driver', 'devices']

/**
 * Parses a file that contains ResourceSlices with `spec.driver` and `spec.devices`. Each node adds its own name and
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
  const { driver, devices } = spec
  if (typeof driver !== 'string' || driver === '') throw new Error('spec.driver is required')
  if (!Array.isArray(devices) || devices.length === 0) throw new Error('spec.devices is required')
  return { driver, devices }
}

export interface PublishParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly node: Node
}

/** Creates the slices of a node. A slice with other devices is replaced by the next generation of its pool. */
export async function publishDevices(
  { client, vendor, node }: PublishParts,
  pools: readonly SimulatedDevices[],
  signal: AbortSignal,
): Promise<void> {
  const type = inDomainOf(vendor, kinds.ResourceSlice)
  const { name: nodeName = '', uid = '' } = node.metadata
  for (const { driver, devices } of pools) {
    const name = `${nodeName}-${driver}`
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true }]
    const sliceOf = (generation: number) =>
      ({ driver, nodeName, pool: { name: nodeName, generation, resourceSliceCount: 1 }, devices }) as object
    // Create first: the node authorizer does not allow a node to read a slice that does not exist.
    const slice = { metadata: { name, ownerReferences }, spec: sliceOf(1) } as ResourceSlice
    if (await isCreated(client.create(type, slice, { signal }))) continue
    const stored = await client.get(type, { name }, { signal })
    if (sameJson(asJson((stored.spec?.devices ?? []) as object), devices as Json[])) continue
    const spec = sliceOf(Number(stored.spec?.pool?.generation ?? 0) + 1)
    await client.update(type, { ...stored, spec } as ResourceSlice, { signal })
  }
}

/** Awaits the creation of an object. Returns false if the object already exists. */
async function isCreated(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation
    return true
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'AlreadyExists') return false
    throw error
  }
}
