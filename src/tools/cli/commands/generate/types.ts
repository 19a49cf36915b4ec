/** `orchctl generate types`: generates TypeScript from the OpenAPI documents of a server or from definition files. */

import { isObject, type JsonObject, own } from '../../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { fileFlags } from '../../arguments/subjects.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { readManifests } from '../../manifests/manifest.ts'
import { escapeText } from '../../printers/escape.ts'
import { type Context, defineCommand } from '../../program/command.ts'
import { type PrintedKind, pascal, printResourceType, TypePrinter } from '../../typescript/print-types.ts'
import { Definitions } from '../explain/definitions.ts'
import { documentOf } from '../explain/document.ts'

const { kustomize: _, ...files } = fileFlags

export const generateTypesCommand = defineCommand({
  name: 'generate types',
  forms: ['TYPE... [flags]', '-f FILE [flags]'],
  about: 'Generate TypeScript types for resource types, for use with orch/client.',
  examples: [
    'orchctl generate types widgets.example.com > src/widget.ts',
    'orchctl generate types -f crd.yaml > src/widget.ts',
  ],
  flags: { ...files, ...connectionFlags },
  run: async (context, { options, words }) => {
    const fromFiles = options.filename.length > 0
    if (fromFiles === words.length > 0)
      throw new UsageError('specify types as listed by `orchctl api-resources`, or files with definitions (-f)')
    if (fromFiles) return context.out(escapeText(printKinds(await kindsInFiles(context, options))))
    await withSession(context, options, async (session) =>
      context.out(escapeText(await printServedKinds(session, words))),
    )
  },
})

const head = `// Written by \`orchctl generate types\`: do not change it by hand.
import type { ObjectMeta, ResourceType } from 'orch/client'
`

/** Prints kinds whose definitions contain their schemas. */
function printKinds(kinds: readonly PrintedKind[]): string {
  const printer = new TypePrinter({})
  return head + kinds.map((kind) => `\n${printer.kind(kind)}${printResourceType(kind)}`).join('')
}

async function printServedKinds(session: Session, words: readonly string[]): Promise<string> {
  let text = head
  for (const word of words) {
    const type = await session.types.typeNamed(word)
    const document = await documentOf(session, type)
    const kind = { name: pascal(type.kind), schema: schemaIn(document, type), type }
    const components = own(document, 'components')
    const schemas = isObject(components) ? own(components, 'schemas') : undefined
    const printer = new TypePrinter(isObject(schemas) ? schemas : {}, new Map(), [kind.name])
    text += `\n${printer.kind(kind)}${printResourceType(kind)}${printer.referred()}`
  }
  return text
}

function schemaIn(document: JsonObject, type: DiscoveredType): JsonObject {
  const schema = new Definitions(document).ofType(type)
  if (schema === undefined) throw new UsageError(`the server does not describe ${type.kind} in ${type.version}`)
  return schema
}

type FileOptions = Parameters<typeof readManifests>[1]

async function kindsInFiles(context: Context, options: FileOptions): Promise<PrintedKind[]> {
  const manifests = await readManifests(context, options)
  const kinds = manifests.flatMap(({ object }) => (object.kind === 'CustomResourceDefinition' ? kindsOf(object) : []))
  if (kinds.length === 0) throw new UsageError('the files contain no CustomResourceDefinition with a schema')
  return kinds
}

/** Returns the served versions of a definition. If there are several, each name includes its version. */
function kindsOf(definition: ApiObject): PrintedKind[] {
  const spec = objectIn(asJson(definition), 'spec')
  const names = objectIn(spec, 'names')
  const kind = String(own(names, 'kind') ?? '')
  const list = own(spec, 'versions')
  const versions = Array.isArray(list)
    ? list.filter(isObject).filter((version) => own(version, 'served') !== false)
    : []
  return versions.map((each) => {
    const version = String(own(each, 'name') ?? '')
    return {
      name: versions.length === 1 ? pascal(kind) : `${pascal(kind)}${pascal(version)}`,
      schema: objectIn(objectIn(each, 'schema'), 'openAPIV3Schema'),
      type: {
        group: String(own(spec, 'group') ?? ''),
        version,
        kind,
        plural: String(own(names, 'plural') ?? ''),
        namespaced: own(spec, 'scope') === 'Namespaced',
      },
    }
  })
}

function objectIn(value: JsonObject, key: string): JsonObject {
  const inner = own(value, key)
  return isObject(inner) ? inner : {}
}
