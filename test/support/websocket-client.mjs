/**
 * Node's own WebSocket, as a client of exec or port-forward: `node websocket-client.mjs URL PROTOCOLS TOKEN INPUTS`, with the
 * protocols separated by commas and the inputs as a list in JSON. An empty token sends no header. Sends each as a message once the server has spoken, and prints every message and the end as lines of JSON.
 */
const [url, protocol, token, json] = process.argv.slice(2)
const inputs = JSON.parse(json)
const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
const socket = new WebSocket(url, { protocols: protocol === '' ? [] : protocol.split(','), headers })
socket.binaryType = 'arraybuffer'
const print = (fact) => console.log(JSON.stringify(fact))
socket.onopen = () => print({ open: socket.protocol })
socket.onerror = () => print({ error: true })
socket.onclose = ({ code }) => print({ close: code })
socket.onmessage = ({ data }) => {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1')
  print({ message: text })
  for (const input of inputs.splice(0)) socket.send(typeof data === 'string' ? input : Buffer.from(input, 'latin1'))
}
