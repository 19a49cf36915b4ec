/** Warnings about volumes whose files hide each other. */
import type { Volume } from './volume.ts'

interface FileSource {
  readonly path: string
  readonly source: string
}

/** Returns warnings about files whose path equals the path of another file or lies below it. */
export function overlapWarnings({ name, configMap, secret, downwardAPI, projected }: Volume): string[] {
  const files = [
    ...filesOf(configMap?.items, 'ConfigMap'),
    ...filesOf(secret?.items, 'Secret'),
    ...filesOf(downwardAPI?.items, 'DownwardAPI'),
    ...(projected?.sources ?? []).flatMap((each) => [
      ...filesOf(each.configMap?.items, 'ConfigMap'),
      ...filesOf(each.secret?.items, 'Secret'),
      ...filesOf(each.downwardAPI?.items, 'DownwardAPI'),
      ...filesOf(each.serviceAccountToken && [each.serviceAccountToken], 'ServiceAccountToken'),
      ...filesOf(each.clusterTrustBundle && [each.clusterTrustBundle], 'ClusterTrustBundle'),
    ]),
  ]
  const empty = (projected?.sources ?? []).filter((each) => Object.keys(each).length === 0)
  return [
    ...empty.map(() => `volume "${name}" (Projected) has no sources provided`),
    ...overlaps(files).map(
      ([one, other]) =>
        `volume "${name}": overlapping paths: ${one.path} (${one.source}) and ${other.path} (${other.source})`,
    ),
  ]
}

function filesOf(items: readonly { readonly path?: string }[] = [], source: string): FileSource[] {
  return items.map(({ path = '' }) => ({ path: path.endsWith('/') ? path.slice(0, -1) : path, source }))
}

/** Returns the pairs of files in which both paths are equal or one path contains the other. */
function overlaps(files: readonly FileSource[]): [FileSource, FileSource][] {
  if (files.length < 2) return []
  const byPath = new Map<string, FileSource>()
  const byFolder = new Map<string, FileSource>()
  const pairs: [FileSource, FileSource][] = []
  for (const file of files) {
    const folders = foldersOf(file.path)
    const other = [file.path, ...folders].map((path) => byPath.get(path)).find((each) => each !== undefined)
    const hidden = other ?? byFolder.get(file.path)
    if (hidden !== undefined) pairs.push([file, hidden])
    if (!byPath.has(file.path)) byPath.set(file.path, file)
    for (const folder of folders) if (!byFolder.has(folder)) byFolder.set(folder, file)
  }
  return pairs
}

const maxDepth = 100

/** Returns the parent folders of a path, at most 100. */
function foldersOf(path: string): string[] {
  const folders: string[] = []
  for (let end = path.indexOf('/'); end > 0 && folders.length < maxDepth; end = path.indexOf('/', end + 1))
    folders.push(path.slice(0, end))
  return folders
}
