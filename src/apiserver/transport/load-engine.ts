/** Loads an HTTP engine by name. Node's HTTP modules are loaded only for the engine `node`. */
import type { HttpEngine, HttpEngineName } from './engine.ts'
import { Http1Connection } from './http1/connection.ts'
import { ServerConnection } from './http2/connection.ts'

export const orchEngine: HttpEngine = {
  openHttp1: (socket, peer, owner) => new Http1Connection(socket, peer, owner),
  openHttp2: (socket, peer, owner) => new ServerConnection(socket, peer, owner),
}

export async function loadEngine(name: HttpEngineName): Promise<HttpEngine> {
  if (name === 'orch') return orchEngine
  const { NodeEngine } = await import('./node/engine.ts')
  return new NodeEngine()
}
