/**
 * The fields of CustomResourceDefinition. The schema in a version is kept as it was sent, but for nulls: it is read in
 * `custom/`.
 */

import type { ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { jsonSchemaProps } from './json-schema-props.ts'

const printerColumn = s.object(
  {
    name: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The heading.' }),
    type: field(2, s.string(), { zero: 'write', published: 'required', doc: 'The type of the cells in OpenAPI.' }),
    format: field(3, s.string(), { doc: 'The format of the cells in OpenAPI; `name` marks the name.' }),
    description: field(4, s.string(), { doc: 'What the column shows.' }),
    priority: field(5, s.int32(), { doc: '0: always shown; above: only in wide tables.' }),
    jsonPath: field(6, s.string(), {
      zero: 'write',
      published: 'required',
      doc: 'Where the cell is found in an object.',
    }),
  },
  { name: 'CustomResourceColumnDefinition', doc: 'A column of tables of the kind.' },
)

const scaleSubresource = s.object(
  {
    specReplicasPath: field(1, s.string(), {
      zero: 'write',
      published: 'required',
      doc: 'Where the wanted number is.',
    }),
    statusReplicasPath: field(2, s.string(), {
      zero: 'write',
      published: 'required',
      doc: 'Where the present number is.',
    }),
    labelSelectorPath: field(3, s.string(), { doc: 'Where the selector of its pods is.', zero: 'keep' }),
  },
  { name: 'CustomResourceSubresourceScale', doc: 'How the kind is scaled.' },
)

const subresources = s.object(
  {
    status: field(
      1,
      s.object({}, { name: 'CustomResourceSubresourceStatus', doc: 'There, it has a status of its own.' }),
      { doc: 'There, the status is written through a way of its own.' },
    ),
    scale: field(2, scaleSubresource, { doc: 'There, the kind can be scaled.' }),
  },
  { name: 'CustomResourceSubresources', doc: 'Which sub-resources the kind has.' },
)

const validation = s.object(
  {
    openAPIV3Schema: field(1, jsonSchemaProps, {
      doc: 'What objects of the kind look like.',
    }),
  },
  { name: 'CustomResourceValidation', doc: 'What objects of the kind look like.' },
)

const version = s.object(
  {
    name: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The name of the version: `v1`.' }),
    served: field(2, s.boolean(), { zero: 'write', published: 'required', doc: 'Whether it is served.' }),
    storage: field(3, s.boolean(), { zero: 'write', published: 'required', doc: 'Whether objects are stored in it.' }),
    deprecated: field(7, s.boolean(), { doc: 'Its users are warned.' }),
    deprecationWarning: field(8, s.string(), { zero: 'keep', doc: 'The words of the warning.' }),
    schema: field(4, validation, { doc: 'What objects look like in it.' }),
    subresources: field(5, subresources, { doc: 'Its sub-resources.' }),
    additionalPrinterColumns: field(6, s.list(printerColumn), { doc: 'The columns of its tables.' }),
  },
  { name: 'CustomResourceDefinitionVersion', doc: 'One version of the kind.' },
)

const nameFields = {
  plural: field(1, s.string(), { zero: 'write', published: 'required', doc: 'As in paths, in lower case.' }),
  singular: field(2, s.string(), { doc: 'For the command line; the kind in lower case by default.' }),
  shortNames: field(3, s.list(s.string()), { doc: 'Short forms for the command line.' }),
  kind: field(4, s.string(), { zero: 'write', published: 'required', doc: 'As objects carry it.' }),
  listKind: field(5, s.string(), { doc: 'The kind of lists; the kind with `List` after it by default.' }),
  categories: field(6, s.list(s.string()), { doc: 'Names that stand for several types, such as `all`.' }),
}

const names = s.object(nameFields, { name: 'CustomResourceDefinitionNames', doc: 'What the kind is called.' })

const serviceReference = s.object(
  {
    namespace: field(1, s.string(), { zero: 'write', published: 'required', doc: 'Where the service is.' }),
    name: field(2, s.string(), { zero: 'write', published: 'required', doc: 'The name of the service.' }),
    path: field(3, s.string(), { zero: 'keep', doc: 'The path of the requests.' }),
    port: field(4, s.int32(), { zero: 'keep', doc: 'The port of the service; 443 by default.' }),
  },
  { name: 'ServiceReference', doc: 'A Service that converts.' },
)

const webhookClientConfig = s.object(
  {
    url: field(3, s.string(), { zero: 'keep', doc: 'The URL of the webhook; else `service`.' }),
    service: field(1, serviceReference, { doc: 'The Service of the webhook; else `url`.' }),
    caBundle: field(2, s.bytes(), { doc: 'The authorities that its certificate may come from.' }),
  },
  { name: 'WebhookClientConfig', doc: 'The webhook to call.' },
)

const webhookConversion = s.object(
  {
    clientConfig: field(2, webhookClientConfig, { doc: 'The webhook to call.' }),
    conversionReviewVersions: field(3, s.list(s.string()), {
      zero: 'write',
      published: 'required',
      doc: 'The versions of ConversionReview that it understands.',
    }),
  },
  { name: 'WebhookConversion', doc: 'The converter.' },
)

const conversion = s.object(
  {
    strategy: field(1, s.string(), { zero: 'write', published: 'required', doc: 'None: only the apiVersion changes.' }),
    webhook: field(2, webhookConversion, { doc: 'The converter.' }),
  },
  { name: 'CustomResourceConversion', doc: 'How objects get from one version to another.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The group of the kind.' }),
    names: field(3, names, { zero: 'write', published: 'required', doc: 'What the kind is called.' }),
    scope: field(4, s.string(), { zero: 'write', published: 'required', doc: 'Namespaced or Cluster.' }),
    versions: field(7, s.list(version), { zero: 'write', published: 'required', doc: 'Its versions; one is stored.' }),
    conversion: field(9, conversion, { doc: 'How objects get from one version to another.' }),
    preserveUnknownFields: field(10, s.boolean(), { doc: 'Must be false: what the schema does not know is dropped.' }),
  },
  { name: 'CustomResourceDefinitionSpec', doc: 'What the kind is.' },
)

const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'What the condition is about.' }),
    status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
    lastTransitionTime: field(3, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(4, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(5, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'CustomResourceDefinitionCondition', doc: 'Something that is known of a definition.' },
)

const status = s.object(
  {
    conditions: field(1, s.list(condition, { list: 'map', keys: ['type'] }), {
      zero: 'write',
      published: 'optional',
      doc: 'Whether it is served, and why not.',
    }),
    acceptedNames: field(2, names, { zero: 'write', doc: 'The names that are in use.' }),
    storedVersions: field(3, s.list(s.string()), {
      zero: 'write',
      published: 'optional',
      doc: 'All versions that objects were ever stored in.',
    }),
  },
  { name: 'CustomResourceDefinitionStatus', doc: 'Whether the kind is served.' },
)

export const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'What the kind is.' }),
  status: field(3, status, { zero: 'write', doc: 'Whether it is served. Set by the server.' }),
}

export type CustomResourceDefinition = ObjectOf<typeof fields>
/** What a user writes of the kind. */
export type DefinitionSpec = NonNullable<CustomResourceDefinition['spec']>
/** How the kind is called. */
export type DefinitionNames = NonNullable<DefinitionSpec['names']>
/** One version of the kind. */
export type DefinitionVersion = NonNullable<DefinitionSpec['versions']>[number]
/** What the server reports of it. */
export type DefinitionStatus = NonNullable<CustomResourceDefinition['status']>
/** One condition of its status. */
export type DefinitionCondition = NonNullable<DefinitionStatus['conditions']>[number]
