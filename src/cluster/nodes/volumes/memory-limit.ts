/**
 * Size limit of an emptyDir volume. For a volume on disk, this is the volume's own limit. For a volume in memory, it is
 * the smallest of three values: the volume's own limit, the sum of the containers' memory limits (if every container
 * has one) and the memory of the node.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { Volume } from '../../../api/kinds/core/types/volume.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { ignoring } from '../../../base/files/files.ts'

const nanos = 1_000_000_000n

/** Returns the limit in bytes, or undefined if there is no limit. */
export function emptyDirLimit({ emptyDir }: Volume, spec: PodSpec, nodeMemory: string): bigint | undefined {
  const own = bytesOf(emptyDir?.sizeLimit)
  if (emptyDir?.medium !== 'Memory') return own
  const limits = [own, containerMemory(spec), bytesOf(nodeMemory)].filter((limit) => limit !== undefined)
  return limits.reduce<bigint | undefined>(
    (least, limit) => (least === undefined || limit < least ? limit : least),
    undefined,
  )
}

/** Returns the sum of the containers' memory limits, or undefined if a container has no limit. */
function containerMemory({ containers = [] }: PodSpec): bigint | undefined {
  let sum = 0n
  for (const { resources } of containers) {
    const limit = bytesOf(resources?.limits?.memory)
    if (limit === undefined) return undefined
    sum += limit
  }
  return sum
}

/** Parses a size. Zero counts as no limit. */
function bytesOf(text: string | undefined): bigint | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text)
  return quantity === undefined || quantity.nanos <= 0n ? undefined : quantity.nanos / nanos
}

const maxEntries = 100_000

/**
 * Returns the total size of all files in a directory. Does not follow symbolic links. Stops after `maxEntries` entries.
 */
export async function usedBytes(directory: string): Promise<bigint> {
  const waiting = [directory]
  let sum = 0n
  let entryCount = 0
  for (let next = waiting.pop(); next !== undefined && entryCount < maxEntries; next = waiting.pop())
    for (const entry of (await readdir(next, { withFileTypes: true }).catch(ignoring('ENOENT'))) ?? []) {
      if (++entryCount > maxEntries) break
      const path = join(next, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else if (entry.isFile()) sum += BigInt((await stat(path).catch(ignoring('ENOENT')))?.size ?? 0)
    }
  return sum
}
