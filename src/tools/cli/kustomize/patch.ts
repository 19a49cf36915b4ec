/**
 * Applies the patches of a kustomization: strategic merge patches (merge patches for custom kinds) and JSON patches. An
 * entry in `patches` contains a patch of either type, and applies to one object or to all objects that its target
 * selects.
 */

import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { applyJsonPatch, parseJsonPatch } from '../../../api/merge/json-patch.ts'
import { applyMergePatch } from '../../../api/merge/merge-patch.ts'
import { applyStrategicMergePatch, withoutDirectives } from '../../../api/merge/strategic-merge-patch.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { LabelMatcher, parseLabelSelector } from '../../../api/selectors/label-selector.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { parseSource } from '../manifests/parse-source.ts'
import { builtInSchema } from '../patches/patch-for.ts'
import type { RootFiles } from './files.ts'
import { checkMembers, type Kustomization, textIn } from './kustomization.ts'
import { Resource } from './resource.ts'

/** Applies `patchesStrategicMerge` and `patches`. If a patch deletes an object, removes the object from the list. */
export async function applyPatches(
  resources: Resource[],
  files: RootFiles,
  kustomization: Kustomization,
): Promise<void> {
  for (const [i, text] of kustomization.patchesStrategicMerge.entries()) {
    const place = `${kustomization.file}: patchesStrategicMerge[${i}]`
    // A text with several lines, or with a colon followed by a space, is an inline patch. Any other text is a file
    // name.
    const documents = /\n|: /.test(text) ? await parseSource({ name: place, text }) : await files.documents(text)
    for (const document of documents) if (document !== null) await mergeInto(resources, document, { place })
  }
  for (const [i, entry] of kustomization.patches.entries())
    await applyEntry(resources, files, { entry, place: `${kustomization.file}: patches[${i}]` })
}

/** Applies `patchesJson6902`. Runs after all names have been transformed. */
export async function applyJsonPatches(
  resources: Resource[],
  files: RootFiles,
  kustomization: Kustomization,
): Promise<void> {
  for (const [i, entry] of kustomization.patchesJson6902.entries()) {
    const place = `${kustomization.file}: patchesJson6902[${i}]`
    if (!isObject(own(entry, 'target'))) throw new UsageError(`${place}: the target is missing`)
    await applyEntry(resources, files, { entry, place })
  }
}

interface Entry {
  readonly entry: JsonObject
  readonly place: string
}

async function applyEntry(resources: Resource[], files: RootFiles, { entry, place }: Entry): Promise<void> {
  checkMembers(entry, ['path', 'patch', 'target', 'options'], place)
  const path = textIn(entry, 'path', place)
  const text = textIn(entry, 'patch', place)
  if ((path === '') === (text === '')) throw new UsageError(`${place}: specify either a path or a patch`)
  const documents = path === '' ? await parseSource({ name: place, text }) : await files.documents(path)
  const target = own(entry, 'target')
  const selection = isObject(target) ? await choose(resources, target, `${place}.target`) : undefined
  for (const document of documents) {
    if (document === null) continue
    if (!Array.isArray(document)) await mergeInto(resources, document, { place, selection })
    else {
      if (selection === undefined) throw new UsageError(`${place}: a JSON patch needs a target`)
      for (const resource of selection) jsonPatch(resource, document, place)
    }
  }
}

function jsonPatch(resource: Resource, patch: Json[], place: string): void {
  withPlace(`${place}: ${resource}`, () => {
    resource.object = applyJsonPatch(resource.object, parseJsonPatch(patch)) as JsonObject
  })
}

/** Runs `work`. If a patch is invalid, adds its location in the kustomization to the error. */
function withPlace(place: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`${place}: ${messageOf(error)}`)
    throw error
  }
}

/** Merges the patch into the selected objects or, if none are selected, into the object that the patch names. */
async function mergeInto(
  resources: Resource[],
  patch: Json,
  { place, selection }: { place: string; selection?: readonly Resource[] | undefined },
): Promise<void> {
  if (!isObject(patch)) throw new UsageError(`${place}: a patch must be an object or a list of operations`)
  const targets = selection ?? [patchTarget(resources, new Resource(structuredClone(patch), place))]
  for (const target of targets) {
    const { $patch: directive, ...rest } = patch
    if (directive === 'delete') {
      resources.splice(resources.indexOf(target), 1)
      continue
    }
    const schema = await builtInSchema(target)
    const merged = { ...patch, ...identityOf(target, rest) }
    withPlace(`${place}: ${target}`, () => {
      target.object = (
        schema === undefined
          ? applyMergePatch(target.object, merged)
          : withoutDirectives(schema, applyStrategicMergePatch(schema, target.object, merged))
      ) as JsonObject
    })
  }
}

/** A patch may refer to an object by one of its earlier names. The patch does not rename the object. */
function identityOf({ object, metadata }: Resource, patch: JsonObject): JsonObject {
  const patchMetadata = own(patch, 'metadata')
  const { name: _, namespace: _1, ...others } = isObject(patchMetadata) ? patchMetadata : {}
  const name = own(metadata, 'name')
  const namespace = own(metadata, 'namespace')
  return {
    apiVersion: own(object, 'apiVersion')!,
    kind: own(object, 'kind')!,
    metadata: { ...others, ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) },
  }
}

function patchTarget(resources: readonly Resource[], patch: Resource): Resource {
  const { name, namespace } = patch.identity
  const matchingResources = resources.filter(
    (resource) =>
      resource.kind === patch.kind &&
      resource.group === patch.group &&
      resource.identities.some((one) => one.name === name && (namespace === '' || one.namespace === namespace)),
  )
  if (matchingResources.length === 1) return matchingResources[0]!
  const count = matchingResources.length === 0 ? 'no object matches' : `${matchingResources.length} objects match`
  throw new UsageError(
    `${patch.origin}: cannot find exactly one ${patch.kind} ${JSON.stringify(name)} to patch: ${count}`,
  )
}

const targetMembers = ['group', 'version', 'kind', 'name', 'namespace', 'labelSelector', 'annotationSelector']

async function choose(resources: readonly Resource[], target: JsonObject, place: string): Promise<Resource[]> {
  checkMembers(target, targetMembers, place)
  const { RE2JS } = await import('re2js')
  const matcher = (field: string): ((text: string) => boolean) => {
    const source = textIn(target, field, place)
    if (source === '') return () => true
    try {
      const pattern = RE2JS.compile(`^(?:${source})$`)
      return (text) => pattern.test(text)
    } catch (error) {
      throw new UsageError(
        `${place}.${field}: ${JSON.stringify(source)} is not a regular expression: ${messageOf(error)}`,
      )
    }
  }
  const [group, version, kind] = ['group', 'version', 'kind'].map(matcher)
  const name = matcher('name')
  const namespace = matcher('namespace')
  const [labels, annotations] = ['labelSelector', 'annotationSelector'].map((field) => marksOf(target, field, place))
  return resources.filter(
    (resource) =>
      group!(resource.group) &&
      version!(resource.version) &&
      kind!(resource.kind) &&
      resource.identities.some((one) => name(one.name) && namespace(one.namespace)) &&
      labels!(own(resource.metadata, 'labels')) &&
      annotations!(own(resource.metadata, 'annotations')),
  )
}

function marksOf(target: JsonObject, field: string, place: string): (marks: Json | undefined) => boolean {
  const text = textIn(target, field, place)
  if (text === '') return () => true
  const matcher = new LabelMatcher(parseLabelSelector(text))
  return (marks) => matcher.matches(isObject(marks) ? (marks as { [key: string]: string }) : {})
}
