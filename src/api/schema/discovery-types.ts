/**
 * The types of aggregated discovery: all groups, versions and resource types of a server in one document. The versions
 * `v2` and `v2beta1` have the same fields.
 */
import { listMeta } from './meta-types.ts'
import { objectMeta } from './object-meta.ts'
import { field, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

const responseKind = s.object(
  {
    group: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'API group of the objects. Empty if it equals the group of the list entry.',
    }),
    version: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'API version of the objects. Empty if it equals the version of the list entry.',
    }),
    kind: field(3, s.string(), { zeroValue: 'write', doc: 'Kind of the objects.' }),
  },
  { name: 'meta.v1.GroupVersionKind', doc: 'Group, version and kind of the objects in a response.' },
)

const subresource = s.object(
  {
    subresource: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the subresource, as in URL paths.' }),
    responseKind: field(2, responseKind, { doc: 'Kind of the response.' }),
    acceptedTypes: field(3, s.list(responseKind), { doc: 'Kinds that a request may contain.' }),
    verbs: field(4, s.list(s.string()), { zeroValue: 'write', doc: 'Verbs that the subresource supports.' }),
  },
  { name: 'apidiscovery.v2.APISubresourceDiscovery', doc: 'A subresource that the server serves.' },
)

const resource = s.object(
  {
    resource: field(1, s.string(), { zeroValue: 'write', doc: 'Plural name of the resource type, as in URL paths.' }),
    responseKind: field(2, responseKind, { doc: 'Kind of the objects. Unset if only subresources are served.' }),
    scope: field(3, s.string(), { zeroValue: 'write', doc: 'Scope of the objects: `Namespaced` or `Cluster`.' }),
    singularResource: field(4, s.string(), { zeroValue: 'write', doc: 'Singular name of the resource type.' }),
    verbs: field(5, s.list(s.string()), { zeroValue: 'write', doc: 'Verbs that the resource type supports.' }),
    shortNames: field(6, s.list(s.string()), { doc: 'Short names for the command line.' }),
    categories: field(7, s.list(s.string()), { doc: 'Categories that include the resource type, such as `all`.' }),
    subresources: field(8, s.list(subresource), { doc: 'Subresources of the resource type.' }),
  },
  { name: 'apidiscovery.v2.APIResourceDiscovery', doc: 'A resource type that the server serves.' },
)

const version = s.object(
  {
    version: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the version.' }),
    resources: field(2, s.list(resource), { doc: 'Resource types of the version.' }),
    freshness: field(3, s.string(), {
      doc: '`Current`, or `Stale` if the aggregated server of the version could not be reached.',
    }),
  },
  { name: 'apidiscovery.v2.APIVersionDiscovery', doc: 'A version of an API group.' },
)

const group = s.object(
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { zeroValue: 'write', doc: 'Name of the group. The core group has no name.' }),
    versions: field(2, s.list(version), { doc: 'Versions of the group, preferred version first.' }),
  },
  { name: 'apidiscovery.v2.APIGroupDiscovery', doc: 'An API group with its versions and resource types.' },
)

/** The response of aggregated discovery: all groups with their versions and resources. */
export const apiGroupDiscoveryList = s.object(
  {
    ...typeMeta,
    metadata: field(1, listMeta, { zeroValue: 'write', doc: 'Unused.' }),
    items: field(2, s.list(group), { zeroValue: 'write', doc: 'API groups.' }),
  },
  { name: 'apidiscovery.v2.APIGroupDiscoveryList', doc: 'All API groups with their versions and resource types.' },
)
