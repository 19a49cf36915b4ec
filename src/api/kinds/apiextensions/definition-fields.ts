/**
 * The fields of CustomResourceDefinition. The schema of a version is stored as the client sent it, except for nulls.
 * `apiserver/custom/` parses and validates the schema.
 */

import type { ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { jsonSchemaProps } from './json-schema-props.ts'

const printerColumn = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', published: 'required', doc: 'Column heading.' }),
    type: field(2, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: "Type of the column's values: `boolean`, `date`, `integer`, `number` or `string`.",
    }),
    format: field(3, s.string(), {
      doc: "OpenAPI format of the column's values, such as `int64`, `double` or `date-time`.",
    }),
    description: field(4, s.string(), { doc: 'Human-readable description of the column.' }),
    priority: field(5, s.int32(), {
      doc: 'Priority of the column. Columns with a priority above 0 are shown only in wide output.',
    }),
    jsonPath: field(6, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: "JSON path of the column's value within an object. Must start with a dot, as in `.spec.size`.",
    }),
  },
  {
    name: 'CustomResourceColumnDefinition',
    doc: 'A column to show when custom resource objects are printed as a table.',
  },
)

const scaleSubresource = s.object(
  {
    specReplicasPath: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'JSON path of the desired number of replicas. Must be under `.spec`.',
    }),
    statusReplicasPath: field(2, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'JSON path of the observed number of replicas. Must be under `.status`.',
    }),
    labelSelectorPath: field(3, s.string(), {
      doc: 'JSON path of a string that contains the label selector for the pods. Must be under `.spec` or `.status`.',
      zeroValue: 'keep',
    }),
  },
  { name: 'CustomResourceSubresourceScale', doc: 'Settings for the scale subresource of a custom resource.' },
)

const subresources = s.object(
  {
    status: field(
      1,
      s.object(
        {},
        {
          name: 'CustomResourceSubresourceStatus',
          doc: 'An empty object that enables the status subresource.',
        },
      ),
      { doc: 'If set, enables the status subresource. Writes to the main resource then leave the status unchanged.' },
    ),
    scale: field(2, scaleSubresource, { doc: 'If set, enables the scale subresource.' }),
  },
  { name: 'CustomResourceSubresources', doc: 'Subresources that a custom resource supports.' },
)

const validation = s.object(
  {
    openAPIV3Schema: field(1, jsonSchemaProps, {
      doc: 'OpenAPI v3 schema for validating, defaulting and pruning objects of this version.',
    }),
  },
  { name: 'CustomResourceValidation', doc: 'Validation schema for a custom resource.' },
)

const selectableField = s.object(
  {
    jsonPath: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'JSON path of the field, for example `.spec.color`. The field must be a string, a boolean or an integer.',
    }),
  },
  { name: 'SelectableField', doc: 'A custom resource field that field selectors can use.' },
)

const version = s.object(
  {
    name: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Name of the version, such as `v1`.',
    }),
    served: field(2, s.boolean(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Whether the API serves this version.',
    }),
    storage: field(3, s.boolean(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Whether objects are stored in this version. Exactly one version is the storage version.',
    }),
    deprecated: field(7, s.boolean(), {
      doc: 'Whether this version is deprecated. Requests to a deprecated version return a warning.',
    }),
    deprecationWarning: field(8, s.string(), {
      zeroValue: 'keep',
      doc: 'Deprecation warning to return instead of the default one. Must consist of 1 to 256 printable characters. Allowed only if the version is deprecated.',
    }),
    schema: field(4, validation, { doc: 'Schema of objects in this version. Required.' }),
    subresources: field(5, subresources, { doc: 'Subresources of this version.' }),
    additionalPrinterColumns: field(6, s.list(printerColumn), {
      doc: "Table columns to return for this version. By default, the table shows the object's age.",
    }),
    selectableFields: field(9, s.list(selectableField), {
      since: '1.30',
      gate: 'CustomResourceFieldSelectors',
      doc: 'Fields that field selectors can use. At most 8 fields.',
    }),
  },
  { name: 'CustomResourceDefinitionVersion', doc: 'One version of a custom resource.' },
)

const nameFields = {
  plural: field(1, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Plural name in lower case, used in URL paths.',
  }),
  singular: field(2, s.string(), {
    doc: 'Singular name in lower case, for command-line tools. Defaults to the lowercased kind.',
  }),
  shortNames: field(3, s.list(s.string()), { doc: 'Short names for use in command-line tools. At most 500 names.' }),
  kind: field(4, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Value of the `kind` field in objects, usually CamelCase and singular.',
  }),
  listKind: field(5, s.string(), {
    doc: 'Value of the `kind` field in lists. Defaults to the kind with the suffix `List`.',
  }),
  categories: field(6, s.list(s.string()), {
    doc: 'Categories that include the resource, such as `all`. Clients can use a category to select several resources at once.',
  }),
}

const names = s.object(nameFields, {
  name: 'CustomResourceDefinitionNames',
  doc: 'Plural, singular, kind and short names of a custom resource.',
})

const serviceReference = s.object(
  {
    namespace: field(1, s.string(), { zeroValue: 'write', published: 'required', doc: 'Namespace of the Service.' }),
    name: field(2, s.string(), { zeroValue: 'write', published: 'required', doc: 'Name of the Service.' }),
    path: field(3, s.string(), { zeroValue: 'keep', doc: 'URL path to request from the Service.' }),
    port: field(4, s.int32(), { zeroValue: 'keep', doc: 'Port of the Service, from 1 to 65535. Defaults to 443.' }),
  },
  { name: 'ServiceReference', doc: 'Reference to the Service that runs a conversion webhook.' },
)

const webhookClientConfig = s.object(
  {
    url: field(3, s.string(), {
      zeroValue: 'keep',
      doc: 'HTTPS URL of the webhook. Exactly one of `url` and `service` must be set.',
    }),
    service: field(1, serviceReference, {
      doc: 'Service that runs the webhook. Exactly one of `url` and `service` must be set.',
    }),
    caBundle: field(2, s.bytes(), {
      doc: "PEM bundle of CA certificates for verifying the webhook's certificate. Defaults to the system's trusted CAs.",
    }),
  },
  { name: 'WebhookClientConfig', doc: 'Address of a conversion webhook: either a URL or a Service.' },
)

const webhookConversion = s.object(
  {
    clientConfig: field(2, webhookClientConfig, {
      doc: 'Address of the conversion webhook, and the CA bundle for verifying its certificate.',
    }),
    conversionReviewVersions: field(3, s.list(s.string()), {
      zeroValue: 'write',
      published: 'required',
      doc: 'ConversionReview versions that the webhook accepts, in order of preference. The server uses the first version that it supports.',
    }),
  },
  { name: 'WebhookConversion', doc: 'A webhook that converts objects between versions.' },
)

const conversion = s.object(
  {
    strategy: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'How to convert objects between versions: `None` changes only the `apiVersion`, and `Webhook` calls a webhook. Defaults to `None`.',
    }),
    webhook: field(2, webhookConversion, {
      doc: 'Conversion webhook. Required if the strategy is `Webhook`, and forbidden otherwise.',
    }),
  },
  { name: 'CustomResourceConversion', doc: 'Settings for converting objects between versions.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'API group of the custom resource. Must be a domain name with at least one dot.',
    }),
    names: field(3, names, { zeroValue: 'write', published: 'required', doc: 'Names of the custom resource.' }),
    scope: field(4, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Scope of the custom resource: `Namespaced` or `Cluster`.',
    }),
    versions: field(7, s.list(version), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Versions of the custom resource. At most 50 versions, exactly one of which is the storage version.',
    }),
    conversion: field(9, conversion, {
      doc: 'Settings for converting objects between versions. By default, the strategy is `None`.',
    }),
    preserveUnknownFields: field(10, s.boolean(), {
      doc: 'Deprecated. Must be false, so that fields missing from the schema are pruned.',
    }),
  },
  { name: 'CustomResourceDefinitionSpec', doc: 'Specification of a custom resource.' },
)

const condition = s.object(
  {
    type: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Type of the condition, such as Established, NamesAccepted or Terminating.',
    }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Status of the condition: True, False or Unknown.',
    }),
    lastTransitionTime: field(3, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason: field(4, s.string(), {
      doc: "Machine-readable reason for the condition's last change, as one CamelCase word.",
    }),
    message: field(5, s.string(), { doc: 'Human-readable details about the last change of the condition.' }),
    observedGeneration: field(6, s.int64(), {
      since: '1.35',
      gate: 'CRDObservedGenerationTracking',
      doc: 'Generation of the CustomResourceDefinition on which the condition is based.',
    }),
  },
  { name: 'CustomResourceDefinitionCondition', doc: 'A condition of a CustomResourceDefinition.' },
)

const status = s.object(
  {
    conditions: field(1, s.list(condition, { list: 'map', keys: ['type'] }), {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Current conditions of the CustomResourceDefinition, one per type.',
    }),
    acceptedNames: field(2, names, {
      zeroValue: 'write',
      doc: 'Names that the server accepted and uses in discovery. They may differ from the names in the spec.',
    }),
    storedVersions: field(3, s.list(s.string()), {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Versions in which objects have ever been stored. Before you remove a version from this list, migrate all objects to another version.',
    }),
    observedGeneration: field(4, s.int64(), {
      since: '1.35',
      gate: 'CRDObservedGenerationTracking',
      doc: 'Most recent generation of the CustomResourceDefinition that the server has processed.',
    }),
  },
  { name: 'CustomResourceDefinitionStatus', doc: 'Observed status of a CustomResourceDefinition.' },
)

export const fields = {
  spec: field(2, spec, { zeroValue: 'write', published: 'required', doc: 'Specification of the custom resource.' }),
  status: field(3, status, {
    zeroValue: 'write',
    doc: 'Observed status of the CustomResourceDefinition, set by the server.',
  }),
}

export type CustomResourceDefinition = ObjectOf<typeof fields>
/** The spec of a CustomResourceDefinition. */
export type DefinitionSpec = NonNullable<CustomResourceDefinition['spec']>
/** The names in `spec.names`: kind, plural, singular and short names. */
export type DefinitionNames = NonNullable<DefinitionSpec['names']>
/** An entry of `spec.versions`. */
export type DefinitionVersion = NonNullable<DefinitionSpec['versions']>[number]
/** The status of a CustomResourceDefinition. */
export type DefinitionStatus = NonNullable<CustomResourceDefinition['status']>
/** A condition of a CustomResourceDefinition. */
export type DefinitionCondition = NonNullable<DefinitionStatus['conditions']>[number]
