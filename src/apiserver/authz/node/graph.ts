/**
 * A graph of dependencies, kept up to date by watches. Edges lead from the pods on a node to the Secrets, ConfigMaps,
 * claims and accounts that they reference, from claims to their volumes and to the Secrets that these volumes
 * reference, and from VolumeAttachments and ResourceSlices to nodes. A query costs one or two lookups, regardless of
 * the number of pods.
 */

import { persistentVolume as persistentVolumes } from '../../../api/kinds/core/persistent-volume.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { ResourceSlice } from '../../../api/kinds/resource/resource-slice.ts'
import { resourceSlice as resourceSlices } from '../../../api/kinds/resource/resource-slice.ts'
import type { VolumeAttachment } from '../../../api/kinds/storage/volume-attachment.ts'
import { volumeAttachment as volumeAttachments } from '../../../api/kinds/storage/volume-attachment.ts'
import type { Lookup, ObjectName } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { DerivedIndex } from '../derived-index.ts'
import { type PodNeeds, persistentVolumeNeeds, podNeeds, thing, type VolumeNeeds } from './references.ts'

export class NodeGraph {
  readonly #index: DerivedIndex
  readonly #mirrorKey: string
  readonly #pods = new Map<string, PodNeeds>()
  /** Number of pods that need each object, by node and then by object. */
  readonly #needed = new Map<string, Map<string, number>>()
  readonly #volumes = new Map<string, VolumeNeeds>()
  /** Volumes by the Secret that they reference. */
  readonly #volumesOf = new Map<string, Set<string>>()
  /** The node of each VolumeAttachment. */
  readonly #attachments = new Map<string, string>()
  /** The node of each ResourceSlice. */
  readonly #slices = new Map<string, string>()

  constructor(lookup: Lookup, vendor: Vendor) {
    this.#mirrorKey = vendorKey(vendor, 'config.mirror')
    this.#index = new DerivedIndex(lookup, [
      {
        type: pods,
        take: (name, object) => this.#takePod(name, object),
        clear: () => {
          this.#pods.clear()
          this.#needed.clear()
        },
      },
      {
        type: persistentVolumes,
        take: ({ name }, object) => this.#takeVolume(name, object),
        clear: () => {
          this.#volumes.clear()
          this.#volumesOf.clear()
        },
      },
      {
        type: volumeAttachments,
        take: ({ name }, object) => this.#takeAttachment(name, object),
        clear: () => this.#attachments.clear(),
      },
      {
        type: resourceSlices,
        take: ({ name }, object) => this.#takeSlice(name, object),
        clear: () => this.#slices.clear(),
      },
    ])
  }

  /**
   * Resolves when the graph contains all changes received so far. Returns undefined if it already does. Await it before
   * each query.
   */
  current(): Promise<void> | undefined {
    return this.#index.current()
  }

  /** Whether a pod on the node needs the object. */
  concerns(node: string, plural: string, { namespace, name }: ObjectName): boolean {
    if (plural === 'volumeattachments') return this.#attachments.get(name) === node
    if (plural === 'resourceslices') return this.#slices.get(name) === node
    if (plural === 'pods') return this.#pods.get(`${namespace}/${name}`)?.node === node
    if (plural === 'persistentvolumes') return this.#usesVolume(node, name)
    const objectKey = thing(plural, namespace, name)
    if (this.#needed.get(objectKey)?.has(node)) return true
    for (const volume of this.#volumesOf.get(objectKey) ?? []) if (this.#usesVolume(node, volume)) return true
    return false
  }

  #usesVolume(node: string, volume: string): boolean {
    const { claim } = this.#volumes.get(volume) ?? { claim: '' }
    return this.#needed.get(claim)?.has(node) ?? false
  }

  #takePod({ namespace, name }: ObjectName, object: ApiObject | undefined): void {
    const key = `${namespace}/${name}`
    const before = this.#pods.get(key)
    if (before !== undefined) this.#count(before, -1)
    this.#pods.delete(key)
    if (object === undefined) return
    const pod = podNeeds(object, this.#mirrorKey)
    if (pod.node === '') return
    this.#pods.set(key, pod)
    this.#count(pod, 1)
  }

  #count({ node, needs }: PodNeeds, by: number): void {
    for (const need of needs) {
      const nodes = this.#needed.get(need) ?? new Map<string, number>()
      const count = (nodes.get(node) ?? 0) + by
      if (count > 0) nodes.set(node, count)
      else nodes.delete(node)
      if (nodes.size > 0) this.#needed.set(need, nodes)
      else this.#needed.delete(need)
    }
  }

  #takeVolume(name: string, object: ApiObject | undefined): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesOf.get(secret)
      volumes?.delete(name)
      if (volumes?.size === 0) this.#volumesOf.delete(secret)
    }
    this.#volumes.delete(name)
    if (object === undefined) return
    const volume = persistentVolumeNeeds(object)
    this.#volumes.set(name, volume)
    for (const secret of volume.secrets)
      this.#volumesOf.set(secret, (this.#volumesOf.get(secret) ?? new Set()).add(name))
  }

  #takeAttachment(name: string, object: VolumeAttachment | undefined): void {
    const { nodeName } = object?.spec ?? {}
    if (nodeName) this.#attachments.set(name, nodeName)
    else this.#attachments.delete(name)
  }
  #takeSlice(name: string, object: ResourceSlice | undefined): void {
    const { nodeName } = object?.spec ?? {}
    if (nodeName) this.#slices.set(name, nodeName)
    else this.#slices.delete(name)
  }
}
