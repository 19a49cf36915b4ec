/** Protobuf encoding for clients that request it. The API groups depend on the server's vendor. */

import { ProtobufDocuments } from '../../api/codec/protobuf/documents.ts'
import type { JsonObject } from '../../api/json/json.ts'
import { profileNames, vendorOf } from '../../api/model/vendor.ts'
import type { ContentForm } from '../requests/content-form.ts'
import { protobufKinds } from './protobuf-kinds.ts'

/**
 * Returns the Protobuf encoding of a server's kinds. `domain` is the domain suffix of the server's built-in API groups.
 */
export function protobufFor(domain: string): ContentForm {
  const vendor = profileNames.map(vendorOf).find(({ groupDomain }) => groupDomain === domain)
  if (vendor === undefined) throw new Error(`Protobuf is not supported for servers whose API groups end in ${domain}`)
  const documents = new ProtobufDocuments(vendor, protobufKinds)
  return {
    mediaType: documents.mediaType,
    write: (document) => documents.write(document as JsonObject),
    read: (bytes) => documents.read(bytes),
    readEvents: (chunks) => documents.readEvents(chunks),
  }
}
