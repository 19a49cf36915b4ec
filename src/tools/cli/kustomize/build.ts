/**
 * Builds a kustomization from its own resources, the resources of its bases, and generated objects. Applies the
 * transformations in the same order as kustomize does. The build reads no files outside the named directories, uses no
 * network and runs no programs.
 */
import { resolve } from 'node:path'
import { isObject, type JsonObject, own } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Context } from '../program/command.ts'
import { RootFiles } from './files.ts'
import { addGenerated, generate } from './generate.ts'
import { type Kustomization, readKustomization } from './kustomization.ts'
import { nameHash } from './name-hash.ts'
import { sortResources } from './order.ts'
import { applyJsonPatches, applyPatches } from './patch.ts'
import { fixReferences } from './references.ts'
import { checkDistinct, Resource } from './resource.ts'
import { addAnnotations, addLabels, renameAll, setImages, setNamespace, setReplicas } from './transform.ts'
import { fillVariables, type Variable } from './vars.ts'

/** Maximum nesting depth of directories. */
const maxDepth = 50
const maxResources = 100_000

/**
 * Returns the objects of the kustomization in this directory, ready to be applied. Throws UsageError if the
 * kustomization is invalid.
 */
export async function buildKustomization({ directory, env }: Context, name: string): Promise<JsonObject[]> {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(name))
    throw new UsageError(`cannot load ${name}: orchctl builds kustomizations without network access`)
  const builder = new Builder(env)
  const resources = await builder.build(new RootFiles(resolve(directory, name), name), [])
  changingNames(resources, () => {
    for (const resource of resources)
      if (resource.hashed) resource.rename(`${resource.identity.name}-${nameHash(resource)}`)
  })
  fillVariables(resources, builder.variables)
  checkDistinct(resources)
  return sortResources(resources).map(({ object }) => object)
}

/** Runs a transformation that may rename objects, and then updates the references to them. */
function changingNames(resources: readonly Resource[], change: () => void): void {
  const before = resources.map((resource) => ({ resource, before: resource.identity }))
  change()
  fixReferences(resources, before)
}

class Builder {
  readonly variables: Variable[] = []
  readonly #env: Context['env']

  constructor(env: Context['env']) {
    this.#env = env
  }

  async build(files: RootFiles, enclosingRoots: readonly string[]): Promise<Resource[]> {
    const inside = this.#enter(files, enclosingRoots)
    const kustomization = await readKustomization(files)
    if (kustomization.kind === 'Component')
      throw new UsageError(`${kustomization.file}: a component must be listed under components`)
    const resources: Resource[] = []
    await this.#fill(resources, files, { kustomization, inside })
    return resources
  }

  #enter({ root, name }: RootFiles, enclosingRoots: readonly string[]): readonly string[] {
    if (enclosingRoots.includes(root)) throw new UsageError(`${name} includes itself as a base`)
    if (enclosingRoots.length >= maxDepth)
      throw new UsageError(`${name}: kustomizations are nested more than ${maxDepth} levels deep`)
    return [...enclosingRoots, root]
  }

  async #fill(
    resources: Resource[],
    files: RootFiles,
    { kustomization, inside }: { kustomization: Kustomization; inside: readonly string[] },
  ): Promise<void> {
    for (const path of [...kustomization.resources, ...kustomization.bases])
      resources.push(...(await this.#load(files, path, inside)))
    checkDistinct(resources)
    for (const path of kustomization.components) await this.#component(resources, files.directory(path), inside)
    for (const generated of await generate(files, kustomization, this.#env)) addGenerated(resources, generated)
    await transform(resources, files, kustomization)
    this.variables.push(
      ...kustomization.vars.map((entry, i) => ({ entry, place: `${kustomization.file}: vars[${i}]` })),
    )
  }

  async #load(files: RootFiles, path: string, inside: readonly string[]): Promise<Resource[]> {
    if (files.isDirectory(path)) return await this.build(files.directory(path), inside)
    const resources: Resource[] = []
    for (const document of await files.documents(path)) resources.push(...objectsIn(document, files.nameOf(path)))
    if (resources.length > maxResources) throw new UsageError(`${files.nameOf(path)} has too many objects`)
    return resources
  }

  /** Applies a component, which changes the objects collected so far. */
  async #component(resources: Resource[], files: RootFiles, enclosingRoots: readonly string[]): Promise<void> {
    const inside = this.#enter(files, enclosingRoots)
    const kustomization = await readKustomization(files)
    if (kustomization.kind !== 'Component') throw new UsageError(`${kustomization.file}: kind must be Component`)
    await this.#fill(resources, files, { kustomization, inside })
  }
}

function objectsIn(document: unknown, file: string): Resource[] {
  if (document === null) return []
  if (!isObject(document)) throw new UsageError(`${file}: the document is not an object`)
  for (const field of ['apiVersion', 'kind'])
    if (typeof own(document, field) !== 'string') throw new UsageError(`${file}: ${field} is missing`)
  const items = own(document, 'items')
  if (String(document.kind).endsWith('List') && Array.isArray(items))
    return items.flatMap((item) => objectsIn(item, file))
  const resource = new Resource(document, file)
  if (resource.identity.name === '') throw new UsageError(`${file}: ${resource.kind} has no metadata.name`)
  return [resource]
}

/**
 * Applies the transformations in the same order as kustomize: patches refer to objects by the names in the files,
 * whereas JSON patches refer to them by the transformed names.
 */
async function transform(resources: Resource[], files: RootFiles, kustomization: Kustomization): Promise<void> {
  await applyPatches(resources, files, kustomization)
  changingNames(resources, () => {
    setNamespace(resources, kustomization.namespace)
    renameAll(resources, kustomization)
  })
  addLabels(resources, kustomization)
  addAnnotations(resources, kustomization)
  await applyJsonPatches(resources, files, kustomization)
  setReplicas(resources, kustomization)
  setImages(resources, kustomization)
}
