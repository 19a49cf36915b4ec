import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  canonicalNames,
  isP256,
  usageTable
} from "./chunk-A35W7TI5.js";
import {
  __commonJS,
  __esm,
  __export,
  __toCommonJS,
  __toESM
} from "./chunk-K3AUPHIL.js";

// node_modules/tslib/tslib.es6.mjs
var tslib_es6_exports = {};
__export(tslib_es6_exports, {
  __addDisposableResource: () => __addDisposableResource,
  __assign: () => __assign,
  __asyncDelegator: () => __asyncDelegator,
  __asyncGenerator: () => __asyncGenerator,
  __asyncValues: () => __asyncValues,
  __await: () => __await,
  __awaiter: () => __awaiter,
  __classPrivateFieldGet: () => __classPrivateFieldGet,
  __classPrivateFieldIn: () => __classPrivateFieldIn,
  __classPrivateFieldSet: () => __classPrivateFieldSet,
  __createBinding: () => __createBinding,
  __decorate: () => __decorate,
  __disposeResources: () => __disposeResources,
  __esDecorate: () => __esDecorate,
  __exportStar: () => __exportStar,
  __extends: () => __extends,
  __generator: () => __generator,
  __importDefault: () => __importDefault,
  __importStar: () => __importStar,
  __makeTemplateObject: () => __makeTemplateObject,
  __metadata: () => __metadata,
  __param: () => __param,
  __propKey: () => __propKey,
  __read: () => __read,
  __rest: () => __rest,
  __rewriteRelativeImportExtension: () => __rewriteRelativeImportExtension,
  __runInitializers: () => __runInitializers,
  __setFunctionName: () => __setFunctionName,
  __spread: () => __spread,
  __spreadArray: () => __spreadArray,
  __spreadArrays: () => __spreadArrays,
  __values: () => __values,
  default: () => tslib_es6_default
});
function __extends(d, b) {
  if (typeof b != "function" && b !== null)
    throw new TypeError("Class extends value " + String(b) + " is not a constructor or null");
  extendStatics(d, b);
  function __() {
    this.constructor = d;
  }
  d.prototype = b === null ? Object.create(b) : (__.prototype = b.prototype, new __());
}
function __rest(s, e) {
  var t = {};
  for (var p in s) Object.prototype.hasOwnProperty.call(s, p) && e.indexOf(p) < 0 && (t[p] = s[p]);
  if (s != null && typeof Object.getOwnPropertySymbols == "function")
    for (var i = 0, p = Object.getOwnPropertySymbols(s); i < p.length; i++)
      e.indexOf(p[i]) < 0 && Object.prototype.propertyIsEnumerable.call(s, p[i]) && (t[p[i]] = s[p[i]]);
  return t;
}
function __decorate(decorators, target, key, desc) {
  var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
  if (typeof Reflect == "object" && typeof Reflect.decorate == "function") r = Reflect.decorate(decorators, target, key, desc);
  else for (var i = decorators.length - 1; i >= 0; i--) (d = decorators[i]) && (r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r);
  return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function __param(paramIndex, decorator) {
  return function(target, key) {
    decorator(target, key, paramIndex);
  };
}
function __esDecorate(ctor, descriptorIn, decorators, contextIn, initializers, extraInitializers) {
  function accept(f) {
    if (f !== void 0 && typeof f != "function") throw new TypeError("Function expected");
    return f;
  }
  for (var kind = contextIn.kind, key = kind === "getter" ? "get" : kind === "setter" ? "set" : "value", target = !descriptorIn && ctor ? contextIn.static ? ctor : ctor.prototype : null, descriptor = descriptorIn || (target ? Object.getOwnPropertyDescriptor(target, contextIn.name) : {}), _, done = !1, i = decorators.length - 1; i >= 0; i--) {
    var context = {};
    for (var p in contextIn) context[p] = p === "access" ? {} : contextIn[p];
    for (var p in contextIn.access) context.access[p] = contextIn.access[p];
    context.addInitializer = function(f) {
      if (done) throw new TypeError("Cannot add initializers after decoration has completed");
      extraInitializers.push(accept(f || null));
    };
    var result = (0, decorators[i])(kind === "accessor" ? { get: descriptor.get, set: descriptor.set } : descriptor[key], context);
    if (kind === "accessor") {
      if (result === void 0) continue;
      if (result === null || typeof result != "object") throw new TypeError("Object expected");
      (_ = accept(result.get)) && (descriptor.get = _), (_ = accept(result.set)) && (descriptor.set = _), (_ = accept(result.init)) && initializers.unshift(_);
    } else (_ = accept(result)) && (kind === "field" ? initializers.unshift(_) : descriptor[key] = _);
  }
  target && Object.defineProperty(target, contextIn.name, descriptor), done = !0;
}
function __runInitializers(thisArg, initializers, value) {
  for (var useValue = arguments.length > 2, i = 0; i < initializers.length; i++)
    value = useValue ? initializers[i].call(thisArg, value) : initializers[i].call(thisArg);
  return useValue ? value : void 0;
}
function __propKey(x) {
  return typeof x == "symbol" ? x : "".concat(x);
}
function __setFunctionName(f, name, prefix) {
  return typeof name == "symbol" && (name = name.description ? "[".concat(name.description, "]") : ""), Object.defineProperty(f, "name", { configurable: !0, value: prefix ? "".concat(prefix, " ", name) : name });
}
function __metadata(metadataKey, metadataValue) {
  if (typeof Reflect == "object" && typeof Reflect.metadata == "function") return Reflect.metadata(metadataKey, metadataValue);
}
function __awaiter(thisArg, _arguments, P, generator) {
  function adopt(value) {
    return value instanceof P ? value : new P(function(resolve) {
      resolve(value);
    });
  }
  return new (P || (P = Promise))(function(resolve, reject) {
    function fulfilled(value) {
      try {
        step(generator.next(value));
      } catch (e) {
        reject(e);
      }
    }
    function rejected(value) {
      try {
        step(generator.throw(value));
      } catch (e) {
        reject(e);
      }
    }
    function step(result) {
      result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected);
    }
    step((generator = generator.apply(thisArg, _arguments || [])).next());
  });
}
function __generator(thisArg, body) {
  var _ = { label: 0, sent: function() {
    if (t[0] & 1) throw t[1];
    return t[1];
  }, trys: [], ops: [] }, f, y, t, g = Object.create((typeof Iterator == "function" ? Iterator : Object).prototype);
  return g.next = verb(0), g.throw = verb(1), g.return = verb(2), typeof Symbol == "function" && (g[Symbol.iterator] = function() {
    return this;
  }), g;
  function verb(n) {
    return function(v) {
      return step([n, v]);
    };
  }
  function step(op) {
    if (f) throw new TypeError("Generator is already executing.");
    for (; g && (g = 0, op[0] && (_ = 0)), _; ) try {
      if (f = 1, y && (t = op[0] & 2 ? y.return : op[0] ? y.throw || ((t = y.return) && t.call(y), 0) : y.next) && !(t = t.call(y, op[1])).done) return t;
      switch (y = 0, t && (op = [op[0] & 2, t.value]), op[0]) {
        case 0:
        case 1:
          t = op;
          break;
        case 4:
          return _.label++, { value: op[1], done: !1 };
        case 5:
          _.label++, y = op[1], op = [0];
          continue;
        case 7:
          op = _.ops.pop(), _.trys.pop();
          continue;
        default:
          if (t = _.trys, !(t = t.length > 0 && t[t.length - 1]) && (op[0] === 6 || op[0] === 2)) {
            _ = 0;
            continue;
          }
          if (op[0] === 3 && (!t || op[1] > t[0] && op[1] < t[3])) {
            _.label = op[1];
            break;
          }
          if (op[0] === 6 && _.label < t[1]) {
            _.label = t[1], t = op;
            break;
          }
          if (t && _.label < t[2]) {
            _.label = t[2], _.ops.push(op);
            break;
          }
          t[2] && _.ops.pop(), _.trys.pop();
          continue;
      }
      op = body.call(thisArg, _);
    } catch (e) {
      op = [6, e], y = 0;
    } finally {
      f = t = 0;
    }
    if (op[0] & 5) throw op[1];
    return { value: op[0] ? op[1] : void 0, done: !0 };
  }
}
function __exportStar(m, o) {
  for (var p in m) p !== "default" && !Object.prototype.hasOwnProperty.call(o, p) && __createBinding(o, m, p);
}
function __values(o) {
  var s = typeof Symbol == "function" && Symbol.iterator, m = s && o[s], i = 0;
  if (m) return m.call(o);
  if (o && typeof o.length == "number") return {
    next: function() {
      return o && i >= o.length && (o = void 0), { value: o && o[i++], done: !o };
    }
  };
  throw new TypeError(s ? "Object is not iterable." : "Symbol.iterator is not defined.");
}
function __read(o, n) {
  var m = typeof Symbol == "function" && o[Symbol.iterator];
  if (!m) return o;
  var i = m.call(o), r, ar = [], e;
  try {
    for (; (n === void 0 || n-- > 0) && !(r = i.next()).done; ) ar.push(r.value);
  } catch (error) {
    e = { error };
  } finally {
    try {
      r && !r.done && (m = i.return) && m.call(i);
    } finally {
      if (e) throw e.error;
    }
  }
  return ar;
}
function __spread() {
  for (var ar = [], i = 0; i < arguments.length; i++)
    ar = ar.concat(__read(arguments[i]));
  return ar;
}
function __spreadArrays() {
  for (var s = 0, i = 0, il = arguments.length; i < il; i++) s += arguments[i].length;
  for (var r = Array(s), k = 0, i = 0; i < il; i++)
    for (var a = arguments[i], j = 0, jl = a.length; j < jl; j++, k++)
      r[k] = a[j];
  return r;
}
function __spreadArray(to, from, pack) {
  if (pack || arguments.length === 2) for (var i = 0, l = from.length, ar; i < l; i++)
    (ar || !(i in from)) && (ar || (ar = Array.prototype.slice.call(from, 0, i)), ar[i] = from[i]);
  return to.concat(ar || Array.prototype.slice.call(from));
}
function __await(v) {
  return this instanceof __await ? (this.v = v, this) : new __await(v);
}
function __asyncGenerator(thisArg, _arguments, generator) {
  if (!Symbol.asyncIterator) throw new TypeError("Symbol.asyncIterator is not defined.");
  var g = generator.apply(thisArg, _arguments || []), i, q = [];
  return i = Object.create((typeof AsyncIterator == "function" ? AsyncIterator : Object).prototype), verb("next"), verb("throw"), verb("return", awaitReturn), i[Symbol.asyncIterator] = function() {
    return this;
  }, i;
  function awaitReturn(f) {
    return function(v) {
      return Promise.resolve(v).then(f, reject);
    };
  }
  function verb(n, f) {
    g[n] && (i[n] = function(v) {
      return new Promise(function(a, b) {
        q.push([n, v, a, b]) > 1 || resume(n, v);
      });
    }, f && (i[n] = f(i[n])));
  }
  function resume(n, v) {
    try {
      step(g[n](v));
    } catch (e) {
      settle(q[0][3], e);
    }
  }
  function step(r) {
    r.value instanceof __await ? Promise.resolve(r.value.v).then(fulfill, reject) : settle(q[0][2], r);
  }
  function fulfill(value) {
    resume("next", value);
  }
  function reject(value) {
    resume("throw", value);
  }
  function settle(f, v) {
    f(v), q.shift(), q.length && resume(q[0][0], q[0][1]);
  }
}
function __asyncDelegator(o) {
  var i, p;
  return i = {}, verb("next"), verb("throw", function(e) {
    throw e;
  }), verb("return"), i[Symbol.iterator] = function() {
    return this;
  }, i;
  function verb(n, f) {
    i[n] = o[n] ? function(v) {
      return (p = !p) ? { value: __await(o[n](v)), done: !1 } : f ? f(v) : v;
    } : f;
  }
}
function __asyncValues(o) {
  if (!Symbol.asyncIterator) throw new TypeError("Symbol.asyncIterator is not defined.");
  var m = o[Symbol.asyncIterator], i;
  return m ? m.call(o) : (o = typeof __values == "function" ? __values(o) : o[Symbol.iterator](), i = {}, verb("next"), verb("throw"), verb("return"), i[Symbol.asyncIterator] = function() {
    return this;
  }, i);
  function verb(n) {
    i[n] = o[n] && function(v) {
      return new Promise(function(resolve, reject) {
        v = o[n](v), settle(resolve, reject, v.done, v.value);
      });
    };
  }
  function settle(resolve, reject, d, v) {
    Promise.resolve(v).then(function(v2) {
      resolve({ value: v2, done: d });
    }, reject);
  }
}
function __makeTemplateObject(cooked, raw) {
  return Object.defineProperty ? Object.defineProperty(cooked, "raw", { value: raw }) : cooked.raw = raw, cooked;
}
function __importStar(mod) {
  if (mod && mod.__esModule) return mod;
  var result = {};
  if (mod != null) for (var k = ownKeys(mod), i = 0; i < k.length; i++) k[i] !== "default" && __createBinding(result, mod, k[i]);
  return __setModuleDefault(result, mod), result;
}
function __importDefault(mod) {
  return mod && mod.__esModule ? mod : { default: mod };
}
function __classPrivateFieldGet(receiver, state, kind, f) {
  if (kind === "a" && !f) throw new TypeError("Private accessor was defined without a getter");
  if (typeof state == "function" ? receiver !== state || !f : !state.has(receiver)) throw new TypeError("Cannot read private member from an object whose class did not declare it");
  return kind === "m" ? f : kind === "a" ? f.call(receiver) : f ? f.value : state.get(receiver);
}
function __classPrivateFieldSet(receiver, state, value, kind, f) {
  if (kind === "m") throw new TypeError("Private method is not writable");
  if (kind === "a" && !f) throw new TypeError("Private accessor was defined without a setter");
  if (typeof state == "function" ? receiver !== state || !f : !state.has(receiver)) throw new TypeError("Cannot write private member to an object whose class did not declare it");
  return kind === "a" ? f.call(receiver, value) : f ? f.value = value : state.set(receiver, value), value;
}
function __classPrivateFieldIn(state, receiver) {
  if (receiver === null || typeof receiver != "object" && typeof receiver != "function") throw new TypeError("Cannot use 'in' operator on non-object");
  return typeof state == "function" ? receiver === state : state.has(receiver);
}
function __addDisposableResource(env, value, async) {
  if (value != null) {
    if (typeof value != "object" && typeof value != "function") throw new TypeError("Object expected.");
    var dispose, inner;
    if (async) {
      if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
      dispose = value[Symbol.asyncDispose];
    }
    if (dispose === void 0) {
      if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
      dispose = value[Symbol.dispose], async && (inner = dispose);
    }
    if (typeof dispose != "function") throw new TypeError("Object not disposable.");
    inner && (dispose = function() {
      try {
        inner.call(this);
      } catch (e) {
        return Promise.reject(e);
      }
    }), env.stack.push({ value, dispose, async });
  } else async && env.stack.push({ async: !0 });
  return value;
}
function __disposeResources(env) {
  function fail(e) {
    env.error = env.hasError ? new _SuppressedError(e, env.error, "An error was suppressed during disposal.") : e, env.hasError = !0;
  }
  var r, s = 0;
  function next() {
    for (; r = env.stack.pop(); )
      try {
        if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
        if (r.dispose) {
          var result = r.dispose.call(r.value);
          if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) {
            return fail(e), next();
          });
        } else s |= 1;
      } catch (e) {
        fail(e);
      }
    if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
    if (env.hasError) throw env.error;
  }
  return next();
}
function __rewriteRelativeImportExtension(path, preserveJsx, extraExtensions, ignoreCase) {
  if (typeof path == "string" && /^\.\.?\//.test(path)) {
    if (extraExtensions)
      for (var extension2 in extraExtensions) {
        var suffix = path.slice(-extension2.length);
        if (suffix === extension2 || ignoreCase && suffix.toLowerCase() === extension2.toLowerCase()) {
          var output = extraExtensions[extension2];
          return output === extension2 ? path : path.slice(0, -extension2.length) + output;
        }
      }
    return path.replace(/\.(tsx)$|((?:\.d)?)((?:\.[^./]+?)?)\.([cm]?)ts$/i, function(m, tsx, d, ext, cm) {
      return tsx ? preserveJsx ? ".jsx" : ".js" : d && (!ext || !cm) ? m : d + ext + "." + cm.toLowerCase() + "js";
    });
  }
  return path;
}
var extendStatics, __assign, __createBinding, __setModuleDefault, ownKeys, _SuppressedError, tslib_es6_default, init_tslib_es6 = __esm({
  "node_modules/tslib/tslib.es6.mjs"() {
    extendStatics = function(d, b) {
      return extendStatics = Object.setPrototypeOf || { __proto__: [] } instanceof Array && function(d2, b2) {
        d2.__proto__ = b2;
      } || function(d2, b2) {
        for (var p in b2) Object.prototype.hasOwnProperty.call(b2, p) && (d2[p] = b2[p]);
      }, extendStatics(d, b);
    };
    __assign = function() {
      return __assign = Object.assign || function(t) {
        for (var s, i = 1, n = arguments.length; i < n; i++) {
          s = arguments[i];
          for (var p in s) Object.prototype.hasOwnProperty.call(s, p) && (t[p] = s[p]);
        }
        return t;
      }, __assign.apply(this, arguments);
    };
    __createBinding = Object.create ? (function(o, m, k, k2) {
      k2 === void 0 && (k2 = k);
      var desc = Object.getOwnPropertyDescriptor(m, k);
      (!desc || ("get" in desc ? !m.__esModule : desc.writable || desc.configurable)) && (desc = { enumerable: !0, get: function() {
        return m[k];
      } }), Object.defineProperty(o, k2, desc);
    }) : (function(o, m, k, k2) {
      k2 === void 0 && (k2 = k), o[k2] = m[k];
    });
    __setModuleDefault = Object.create ? (function(o, v) {
      Object.defineProperty(o, "default", { enumerable: !0, value: v });
    }) : function(o, v) {
      o.default = v;
    }, ownKeys = function(o) {
      return ownKeys = Object.getOwnPropertyNames || function(o2) {
        var ar = [];
        for (var k in o2) Object.prototype.hasOwnProperty.call(o2, k) && (ar[ar.length] = k);
        return ar;
      }, ownKeys(o);
    };
    _SuppressedError = typeof SuppressedError == "function" ? SuppressedError : function(error, suppressed, message) {
      var e = new Error(message);
      return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
    };
    tslib_es6_default = {
      __extends,
      __assign,
      __rest,
      __decorate,
      __param,
      __esDecorate,
      __runInitializers,
      __propKey,
      __setFunctionName,
      __metadata,
      __awaiter,
      __generator,
      __createBinding,
      __exportStar,
      __values,
      __read,
      __spread,
      __spreadArrays,
      __spreadArray,
      __await,
      __asyncGenerator,
      __asyncDelegator,
      __asyncValues,
      __makeTemplateObject,
      __importStar,
      __importDefault,
      __classPrivateFieldGet,
      __classPrivateFieldSet,
      __classPrivateFieldIn,
      __addDisposableResource,
      __disposeResources,
      __rewriteRelativeImportExtension
    };
  }
});

// node_modules/pvtsutils/build/index.js
var require_build = __commonJS({
  "node_modules/pvtsutils/build/index.js"(exports) {
    "use strict";
    var ARRAY_BUFFER_NAME = "[object ArrayBuffer]", BufferSourceConverter = class _BufferSourceConverter {
      static isArrayBuffer(data) {
        return Object.prototype.toString.call(data) === ARRAY_BUFFER_NAME;
      }
      static toArrayBuffer(data) {
        return this.isArrayBuffer(data) ? data : data.byteLength === data.buffer.byteLength || data.byteOffset === 0 && data.byteLength === data.buffer.byteLength ? data.buffer : this.toUint8Array(data.buffer).slice(data.byteOffset, data.byteOffset + data.byteLength).buffer;
      }
      static toUint8Array(data) {
        return this.toView(data, Uint8Array);
      }
      static toView(data, type) {
        if (data.constructor === type)
          return data;
        if (this.isArrayBuffer(data))
          return new type(data);
        if (this.isArrayBufferView(data))
          return new type(data.buffer, data.byteOffset, data.byteLength);
        throw new TypeError("The provided value is not of type '(ArrayBuffer or ArrayBufferView)'");
      }
      static isBufferSource(data) {
        return this.isArrayBufferView(data) || this.isArrayBuffer(data);
      }
      static isArrayBufferView(data) {
        return ArrayBuffer.isView(data) || data && this.isArrayBuffer(data.buffer);
      }
      static isEqual(a, b) {
        let aView = _BufferSourceConverter.toUint8Array(a), bView = _BufferSourceConverter.toUint8Array(b);
        if (aView.length !== bView.byteLength)
          return !1;
        for (let i = 0; i < aView.length; i++)
          if (aView[i] !== bView[i])
            return !1;
        return !0;
      }
      static concat(...args) {
        let buffers;
        Array.isArray(args[0]) && !(args[1] instanceof Function) || Array.isArray(args[0]) && args[1] instanceof Function ? buffers = args[0] : args[args.length - 1] instanceof Function ? buffers = args.slice(0, args.length - 1) : buffers = args;
        let size = 0;
        for (let buffer of buffers)
          size += buffer.byteLength;
        let res = new Uint8Array(size), offset = 0;
        for (let buffer of buffers) {
          let view = this.toUint8Array(buffer);
          res.set(view, offset), offset += view.length;
        }
        return args[args.length - 1] instanceof Function ? this.toView(res, args[args.length - 1]) : res.buffer;
      }
    }, STRING_TYPE = "string", HEX_REGEX = /^[0-9a-f\s]+$/i, BASE64_REGEX = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, BASE64URL_REGEX = /^[a-zA-Z0-9-_]+$/, Utf8Converter = class {
      static fromString(text) {
        let s = unescape(encodeURIComponent(text)), uintArray = new Uint8Array(s.length);
        for (let i = 0; i < s.length; i++)
          uintArray[i] = s.charCodeAt(i);
        return uintArray.buffer;
      }
      static toString(buffer) {
        let buf = BufferSourceConverter.toUint8Array(buffer), encodedString = "";
        for (let i = 0; i < buf.length; i++)
          encodedString += String.fromCharCode(buf[i]);
        return decodeURIComponent(escape(encodedString));
      }
    }, Utf16Converter = class {
      static toString(buffer, littleEndian = !1) {
        let arrayBuffer2 = BufferSourceConverter.toArrayBuffer(buffer), dataView = new DataView(arrayBuffer2), res = "";
        for (let i = 0; i < arrayBuffer2.byteLength; i += 2) {
          let code = dataView.getUint16(i, littleEndian);
          res += String.fromCharCode(code);
        }
        return res;
      }
      static fromString(text, littleEndian = !1) {
        let res = new ArrayBuffer(text.length * 2), dataView = new DataView(res);
        for (let i = 0; i < text.length; i++)
          dataView.setUint16(i * 2, text.charCodeAt(i), littleEndian);
        return res;
      }
    }, Convert = class _Convert {
      static isHex(data) {
        return typeof data === STRING_TYPE && HEX_REGEX.test(data);
      }
      static isBase64(data) {
        return typeof data === STRING_TYPE && BASE64_REGEX.test(data);
      }
      static isBase64Url(data) {
        return typeof data === STRING_TYPE && BASE64URL_REGEX.test(data);
      }
      static ToString(buffer, enc = "utf8") {
        let buf = BufferSourceConverter.toUint8Array(buffer);
        switch (enc.toLowerCase()) {
          case "utf8":
            return this.ToUtf8String(buf);
          case "binary":
            return this.ToBinary(buf);
          case "hex":
            return this.ToHex(buf);
          case "base64":
            return this.ToBase64(buf);
          case "base64url":
            return this.ToBase64Url(buf);
          case "utf16le":
            return Utf16Converter.toString(buf, !0);
          case "utf16":
          case "utf16be":
            return Utf16Converter.toString(buf);
          default:
            throw new Error(`Unknown type of encoding '${enc}'`);
        }
      }
      static FromString(str, enc = "utf8") {
        if (!str)
          return new ArrayBuffer(0);
        switch (enc.toLowerCase()) {
          case "utf8":
            return this.FromUtf8String(str);
          case "binary":
            return this.FromBinary(str);
          case "hex":
            return this.FromHex(str);
          case "base64":
            return this.FromBase64(str);
          case "base64url":
            return this.FromBase64Url(str);
          case "utf16le":
            return Utf16Converter.fromString(str, !0);
          case "utf16":
          case "utf16be":
            return Utf16Converter.fromString(str);
          default:
            throw new Error(`Unknown type of encoding '${enc}'`);
        }
      }
      static ToBase64(buffer) {
        let buf = BufferSourceConverter.toUint8Array(buffer);
        if (typeof btoa < "u") {
          let binary = this.ToString(buf, "binary");
          return btoa(binary);
        } else
          return Buffer.from(buf).toString("base64");
      }
      static FromBase64(base64) {
        let formatted = this.formatString(base64);
        if (!formatted)
          return new ArrayBuffer(0);
        if (!_Convert.isBase64(formatted))
          throw new TypeError("Argument 'base64Text' is not Base64 encoded");
        return typeof atob < "u" ? this.FromBinary(atob(formatted)) : new Uint8Array(Buffer.from(formatted, "base64")).buffer;
      }
      static FromBase64Url(base64url) {
        let formatted = this.formatString(base64url);
        if (!formatted)
          return new ArrayBuffer(0);
        if (!_Convert.isBase64Url(formatted))
          throw new TypeError("Argument 'base64url' is not Base64Url encoded");
        return this.FromBase64(this.Base64Padding(formatted.replace(/\-/g, "+").replace(/\_/g, "/")));
      }
      static ToBase64Url(data) {
        return this.ToBase64(data).replace(/\+/g, "-").replace(/\//g, "_").replace(/\=/g, "");
      }
      static FromUtf8String(text, encoding = _Convert.DEFAULT_UTF8_ENCODING) {
        switch (encoding) {
          case "ascii":
            return this.FromBinary(text);
          case "utf8":
            return Utf8Converter.fromString(text);
          case "utf16":
          case "utf16be":
            return Utf16Converter.fromString(text);
          case "utf16le":
          case "usc2":
            return Utf16Converter.fromString(text, !0);
          default:
            throw new Error(`Unknown type of encoding '${encoding}'`);
        }
      }
      static ToUtf8String(buffer, encoding = _Convert.DEFAULT_UTF8_ENCODING) {
        switch (encoding) {
          case "ascii":
            return this.ToBinary(buffer);
          case "utf8":
            return Utf8Converter.toString(buffer);
          case "utf16":
          case "utf16be":
            return Utf16Converter.toString(buffer);
          case "utf16le":
          case "usc2":
            return Utf16Converter.toString(buffer, !0);
          default:
            throw new Error(`Unknown type of encoding '${encoding}'`);
        }
      }
      static FromBinary(text) {
        let stringLength = text.length, resultView = new Uint8Array(stringLength);
        for (let i = 0; i < stringLength; i++)
          resultView[i] = text.charCodeAt(i);
        return resultView.buffer;
      }
      static ToBinary(buffer) {
        let buf = BufferSourceConverter.toUint8Array(buffer), res = "";
        for (let i = 0; i < buf.length; i++)
          res += String.fromCharCode(buf[i]);
        return res;
      }
      static ToHex(buffer) {
        let buf = BufferSourceConverter.toUint8Array(buffer), result = "", len = buf.length;
        for (let i = 0; i < len; i++) {
          let byte = buf[i];
          byte < 16 && (result += "0"), result += byte.toString(16);
        }
        return result;
      }
      static FromHex(hexString) {
        let formatted = this.formatString(hexString);
        if (!formatted)
          return new ArrayBuffer(0);
        if (!_Convert.isHex(formatted))
          throw new TypeError("Argument 'hexString' is not HEX encoded");
        formatted.length % 2 && (formatted = `0${formatted}`);
        let res = new Uint8Array(formatted.length / 2);
        for (let i = 0; i < formatted.length; i = i + 2) {
          let c = formatted.slice(i, i + 2);
          res[i / 2] = parseInt(c, 16);
        }
        return res.buffer;
      }
      static ToUtf16String(buffer, littleEndian = !1) {
        return Utf16Converter.toString(buffer, littleEndian);
      }
      static FromUtf16String(text, littleEndian = !1) {
        return Utf16Converter.fromString(text, littleEndian);
      }
      static Base64Padding(base64) {
        let padCount = 4 - base64.length % 4;
        if (padCount < 4)
          for (let i = 0; i < padCount; i++)
            base64 += "=";
        return base64;
      }
      static formatString(data) {
        return data?.replace(/[\n\r\t ]/g, "") || "";
      }
    };
    Convert.DEFAULT_UTF8_ENCODING = "utf8";
    function assign(target, ...sources) {
      let res = arguments[0];
      for (let i = 1; i < arguments.length; i++) {
        let obj = arguments[i];
        for (let prop in obj)
          res[prop] = obj[prop];
      }
      return res;
    }
    function combine(...buf) {
      let totalByteLength = buf.map((item) => item.byteLength).reduce((prev, cur) => prev + cur), res = new Uint8Array(totalByteLength), currentPos = 0;
      return buf.map((item) => new Uint8Array(item)).forEach((arr) => {
        for (let item2 of arr)
          res[currentPos++] = item2;
      }), res.buffer;
    }
    function isEqual(bytes1, bytes2) {
      if (!(bytes1 && bytes2) || bytes1.byteLength !== bytes2.byteLength)
        return !1;
      let b1 = new Uint8Array(bytes1), b2 = new Uint8Array(bytes2);
      for (let i = 0; i < bytes1.byteLength; i++)
        if (b1[i] !== b2[i])
          return !1;
      return !0;
    }
    exports.BufferSourceConverter = BufferSourceConverter;
    exports.Convert = Convert;
    exports.assign = assign;
    exports.combine = combine;
    exports.isEqual = isEqual;
  }
});

// node_modules/pvutils/build/utils.js
var require_utils = __commonJS({
  "node_modules/pvutils/build/utils.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    function getUTCDate(date) {
      return new Date(date.getTime() + date.getTimezoneOffset() * 6e4);
    }
    function getParametersValue(parameters, name, defaultValue) {
      var _a;
      return parameters instanceof Object && (_a = parameters[name]) !== null && _a !== void 0 ? _a : defaultValue;
    }
    function bufferToHexCodes(inputBuffer, inputOffset = 0, inputLength = inputBuffer.byteLength - inputOffset, insertSpace = !1) {
      let result = "";
      for (let item of new Uint8Array(inputBuffer, inputOffset, inputLength)) {
        let str = item.toString(16).toUpperCase();
        str.length === 1 && (result += "0"), result += str, insertSpace && (result += " ");
      }
      return result.trim();
    }
    function checkBufferParams(baseBlock, inputBuffer, inputOffset, inputLength) {
      return inputBuffer instanceof ArrayBuffer ? inputBuffer.byteLength ? inputOffset < 0 ? (baseBlock.error = "Wrong parameter: inputOffset less than zero", !1) : inputLength < 0 ? (baseBlock.error = "Wrong parameter: inputLength less than zero", !1) : inputBuffer.byteLength - inputOffset - inputLength < 0 ? (baseBlock.error = "End of input reached before message was fully decoded (inconsistent offset and length values)", !1) : !0 : (baseBlock.error = "Wrong parameter: inputBuffer has zero length", !1) : (baseBlock.error = 'Wrong parameter: inputBuffer must be "ArrayBuffer"', !1);
    }
    function utilFromBase(inputBuffer, inputBase) {
      let result = 0;
      if (inputBuffer.length === 1)
        return inputBuffer[0];
      for (let i = inputBuffer.length - 1; i >= 0; i--)
        result += inputBuffer[inputBuffer.length - 1 - i] * Math.pow(2, inputBase * i);
      return result;
    }
    function utilToBase(value, base, reserved = -1) {
      let internalReserved = reserved, internalValue = value, result = 0, biggest = Math.pow(2, base);
      for (let i = 1; i < 8; i++) {
        if (value < biggest) {
          let retBuf;
          if (internalReserved < 0)
            retBuf = new ArrayBuffer(i), result = i;
          else {
            if (internalReserved < i)
              return new ArrayBuffer(0);
            retBuf = new ArrayBuffer(internalReserved), result = internalReserved;
          }
          let retView = new Uint8Array(retBuf);
          for (let j = i - 1; j >= 0; j--) {
            let basis = Math.pow(2, j * base);
            retView[result - j - 1] = Math.floor(internalValue / basis), internalValue -= retView[result - j - 1] * basis;
          }
          return retBuf;
        }
        biggest *= Math.pow(2, base);
      }
      return new ArrayBuffer(0);
    }
    function utilConcatBuf(...buffers) {
      let outputLength = 0, prevLength = 0;
      for (let buffer of buffers)
        outputLength += buffer.byteLength;
      let retBuf = new ArrayBuffer(outputLength), retView = new Uint8Array(retBuf);
      for (let buffer of buffers)
        retView.set(new Uint8Array(buffer), prevLength), prevLength += buffer.byteLength;
      return retBuf;
    }
    function utilConcatView(...views) {
      let outputLength = 0, prevLength = 0;
      for (let view of views)
        outputLength += view.length;
      let retBuf = new ArrayBuffer(outputLength), retView = new Uint8Array(retBuf);
      for (let view of views)
        retView.set(view, prevLength), prevLength += view.length;
      return retView;
    }
    function utilDecodeTC() {
      let buf = new Uint8Array(this.valueHex);
      if (this.valueHex.byteLength >= 2) {
        let condition1 = buf[0] === 255 && buf[1] & 128, condition2 = buf[0] === 0 && (buf[1] & 128) === 0;
        (condition1 || condition2) && this.warnings.push("Needlessly long format");
      }
      let bigIntBuffer = new ArrayBuffer(this.valueHex.byteLength), bigIntView = new Uint8Array(bigIntBuffer);
      for (let i = 0; i < this.valueHex.byteLength; i++)
        bigIntView[i] = 0;
      bigIntView[0] = buf[0] & 128;
      let bigInt = utilFromBase(bigIntView, 8), smallIntBuffer = new ArrayBuffer(this.valueHex.byteLength), smallIntView = new Uint8Array(smallIntBuffer);
      for (let j = 0; j < this.valueHex.byteLength; j++)
        smallIntView[j] = buf[j];
      return smallIntView[0] &= 127, utilFromBase(smallIntView, 8) - bigInt;
    }
    function utilEncodeTC(value) {
      let modValue = value < 0 ? value * -1 : value, bigInt = 128;
      for (let i = 1; i < 8; i++) {
        if (modValue <= bigInt) {
          if (value < 0) {
            let smallInt = bigInt - modValue, retBuf2 = utilToBase(smallInt, 8, i), retView2 = new Uint8Array(retBuf2);
            return retView2[0] |= 128, retBuf2;
          }
          let retBuf = utilToBase(modValue, 8, i), retView = new Uint8Array(retBuf);
          if (retView[0] & 128) {
            let tempBuf = retBuf.slice(0), tempView = new Uint8Array(tempBuf);
            retBuf = new ArrayBuffer(retBuf.byteLength + 1), retView = new Uint8Array(retBuf);
            for (let k = 0; k < tempBuf.byteLength; k++)
              retView[k + 1] = tempView[k];
            retView[0] = 0;
          }
          return retBuf;
        }
        bigInt *= Math.pow(2, 8);
      }
      return new ArrayBuffer(0);
    }
    function isEqualBuffer(inputBuffer1, inputBuffer2) {
      if (inputBuffer1.byteLength !== inputBuffer2.byteLength)
        return !1;
      let view1 = new Uint8Array(inputBuffer1), view2 = new Uint8Array(inputBuffer2);
      for (let i = 0; i < view1.length; i++)
        if (view1[i] !== view2[i])
          return !1;
      return !0;
    }
    function padNumber(inputNumber, fullLength) {
      let str = inputNumber.toString(10);
      if (fullLength < str.length)
        return "";
      let dif = fullLength - str.length, padding = Array.from({ length: dif });
      for (let i = 0; i < dif; i++)
        padding[i] = "0";
      return padding.join("").concat(str);
    }
    var base64Template = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", base64UrlTemplate = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=";
    function toBase64(input, useUrlTemplate = !1, skipPadding = !1, skipLeadingZeros = !1) {
      let i = 0, flag1 = 0, flag2 = 0, output = "", template = useUrlTemplate ? base64UrlTemplate : base64Template;
      if (skipLeadingZeros) {
        let nonZeroPosition = 0;
        for (let i2 = 0; i2 < input.length; i2++)
          if (input.charCodeAt(i2) !== 0) {
            nonZeroPosition = i2;
            break;
          }
        input = input.slice(nonZeroPosition);
      }
      for (; i < input.length; ) {
        let chr1 = input.charCodeAt(i++);
        i >= input.length && (flag1 = 1);
        let chr2 = input.charCodeAt(i++);
        i >= input.length && (flag2 = 1);
        let chr3 = input.charCodeAt(i++), enc1 = chr1 >> 2, enc2 = (chr1 & 3) << 4 | chr2 >> 4, enc3 = (chr2 & 15) << 2 | chr3 >> 6, enc4 = chr3 & 63;
        flag1 === 1 ? enc3 = enc4 = 64 : flag2 === 1 && (enc4 = 64), skipPadding ? enc3 === 64 ? output += `${template.charAt(enc1)}${template.charAt(enc2)}` : enc4 === 64 ? output += `${template.charAt(enc1)}${template.charAt(enc2)}${template.charAt(enc3)}` : output += `${template.charAt(enc1)}${template.charAt(enc2)}${template.charAt(enc3)}${template.charAt(enc4)}` : output += `${template.charAt(enc1)}${template.charAt(enc2)}${template.charAt(enc3)}${template.charAt(enc4)}`;
      }
      return output;
    }
    function fromBase64(input, useUrlTemplate = !1, cutTailZeros = !1) {
      let template = useUrlTemplate ? base64UrlTemplate : base64Template;
      function indexOf(toSearch) {
        for (let i2 = 0; i2 < 64; i2++)
          if (template.charAt(i2) === toSearch)
            return i2;
        return 64;
      }
      function test(incoming) {
        return incoming === 64 ? 0 : incoming;
      }
      let i = 0, output = "";
      for (; i < input.length; ) {
        let enc1 = indexOf(input.charAt(i++)), enc2 = i >= input.length ? 0 : indexOf(input.charAt(i++)), enc3 = i >= input.length ? 0 : indexOf(input.charAt(i++)), enc4 = i >= input.length ? 0 : indexOf(input.charAt(i++)), chr1 = test(enc1) << 2 | test(enc2) >> 4, chr2 = (test(enc2) & 15) << 4 | test(enc3) >> 2, chr3 = (test(enc3) & 3) << 6 | test(enc4);
        output += String.fromCharCode(chr1), enc3 !== 64 && (output += String.fromCharCode(chr2)), enc4 !== 64 && (output += String.fromCharCode(chr3));
      }
      if (cutTailZeros) {
        let outputLength = output.length, nonZeroStart = -1;
        for (let i2 = outputLength - 1; i2 >= 0; i2--)
          if (output.charCodeAt(i2) !== 0) {
            nonZeroStart = i2;
            break;
          }
        nonZeroStart !== -1 ? output = output.slice(0, nonZeroStart + 1) : output = "";
      }
      return output;
    }
    function arrayBufferToString(buffer) {
      let resultString = "", view = new Uint8Array(buffer);
      for (let element of view)
        resultString += String.fromCharCode(element);
      return resultString;
    }
    function stringToArrayBuffer(str) {
      let stringLength = str.length, resultBuffer = new ArrayBuffer(stringLength), resultView = new Uint8Array(resultBuffer);
      for (let i = 0; i < stringLength; i++)
        resultView[i] = str.charCodeAt(i);
      return resultBuffer;
    }
    var log2 = Math.log(2);
    function nearestPowerOf2(length) {
      let base = Math.log(length) / log2, floor = Math.floor(base), round = Math.round(base);
      return floor === round ? floor : round;
    }
    function clearProps(object, propsArray) {
      for (let prop of propsArray)
        delete object[prop];
    }
    exports.arrayBufferToString = arrayBufferToString;
    exports.bufferToHexCodes = bufferToHexCodes;
    exports.checkBufferParams = checkBufferParams;
    exports.clearProps = clearProps;
    exports.fromBase64 = fromBase64;
    exports.getParametersValue = getParametersValue;
    exports.getUTCDate = getUTCDate;
    exports.isEqualBuffer = isEqualBuffer;
    exports.nearestPowerOf2 = nearestPowerOf2;
    exports.padNumber = padNumber;
    exports.stringToArrayBuffer = stringToArrayBuffer;
    exports.toBase64 = toBase64;
    exports.utilConcatBuf = utilConcatBuf;
    exports.utilConcatView = utilConcatView;
    exports.utilDecodeTC = utilDecodeTC;
    exports.utilEncodeTC = utilEncodeTC;
    exports.utilFromBase = utilFromBase;
    exports.utilToBase = utilToBase;
  }
});

// node_modules/asn1js/build/index.js
var require_build2 = __commonJS({
  "node_modules/asn1js/build/index.js"(exports) {
    "use strict";
    var pvtsutils = require_build(), pvutils = require_utils();
    function _interopNamespaceDefault(e) {
      var n = /* @__PURE__ */ Object.create(null);
      return e && Object.keys(e).forEach(function(k) {
        if (k !== "default") {
          var d = Object.getOwnPropertyDescriptor(e, k);
          Object.defineProperty(n, k, d.get ? d : {
            enumerable: !0,
            get: function() {
              return e[k];
            }
          });
        }
      }), n.default = e, Object.freeze(n);
    }
    var pvtsutils__namespace = /* @__PURE__ */ _interopNamespaceDefault(pvtsutils), pvutils__namespace = /* @__PURE__ */ _interopNamespaceDefault(pvutils);
    function assertBigInt() {
      if (typeof BigInt > "u")
        throw new Error("BigInt is not defined. Your environment doesn't implement BigInt.");
    }
    function concat(buffers) {
      let outputLength = 0, prevLength = 0;
      for (let i = 0; i < buffers.length; i++) {
        let buffer = buffers[i];
        outputLength += buffer.byteLength;
      }
      let retView = new Uint8Array(outputLength);
      for (let i = 0; i < buffers.length; i++) {
        let buffer = buffers[i];
        retView.set(buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer), prevLength), prevLength += buffer.byteLength;
      }
      return retView.buffer;
    }
    function checkBufferParams(baseBlock, inputBuffer, inputOffset, inputLength) {
      return inputBuffer instanceof Uint8Array ? inputBuffer.byteLength ? inputOffset < 0 ? (baseBlock.error = "Wrong parameter: inputOffset less than zero", !1) : inputLength < 0 ? (baseBlock.error = "Wrong parameter: inputLength less than zero", !1) : inputBuffer.byteLength - inputOffset - inputLength < 0 ? (baseBlock.error = "End of input reached before message was fully decoded (inconsistent offset and length values)", !1) : !0 : (baseBlock.error = "Wrong parameter: inputBuffer has zero length", !1) : (baseBlock.error = "Wrong parameter: inputBuffer must be 'Uint8Array'", !1);
    }
    var ViewWriter = class {
      constructor() {
        this.items = [];
      }
      write(buf) {
        this.items.push(buf instanceof ArrayBuffer ? buf : concat([buf]));
      }
      final() {
        return concat(this.items);
      }
    }, ORIGINAL_VIEW_WRITER_WRITE = ViewWriter.prototype.write, ORIGINAL_VIEW_WRITER_FINAL = ViewWriter.prototype.final, NAME = "name", VALUE_HEX_VIEW = "valueHexView", IS_HEX_ONLY = "isHexOnly", ID_BLOCK = "idBlock", TAG_CLASS = "tagClass", TAG_NUMBER = "tagNumber", IS_CONSTRUCTED = "isConstructed", FROM_BER = "fromBER", TO_BER = "toBER", LOCAL = "local", EMPTY_STRING = "", EMPTY_BUFFER = new ArrayBuffer(0), EMPTY_VIEW = new Uint8Array(0), END_OF_CONTENT_NAME = "EndOfContent", OCTET_STRING_NAME = "OCTET STRING", BIT_STRING_NAME = "BIT STRING";
    function HexBlock(BaseClass) {
      var _a2;
      return _a2 = class extends BaseClass {
        get valueHex() {
          return this.valueHexView.slice().buffer;
        }
        set valueHex(value) {
          this.valueHexView = new Uint8Array(value);
        }
        constructor(...args) {
          var _b2;
          super(...args);
          let params = args[0] || {};
          this.isHexOnly = (_b2 = params.isHexOnly) !== null && _b2 !== void 0 ? _b2 : !1, this.valueHexView = params.valueHex ? pvtsutils__namespace.BufferSourceConverter.toUint8Array(params.valueHex) : EMPTY_VIEW;
        }
        fromBER(inputBuffer, inputOffset, inputLength, _context) {
          let view = inputBuffer instanceof ArrayBuffer ? new Uint8Array(inputBuffer) : inputBuffer;
          if (!checkBufferParams(this, view, inputOffset, inputLength))
            return -1;
          let endLength = inputOffset + inputLength;
          return this.valueHexView = view.subarray(inputOffset, endLength), this.valueHexView.length ? (this.blockLength = inputLength, endLength) : (this.warnings.push("Zero buffer length"), inputOffset);
        }
        toBER(sizeOnly = !1) {
          return this.isHexOnly ? sizeOnly ? new ArrayBuffer(this.valueHexView.byteLength) : this.valueHexView.buffer instanceof ArrayBuffer && this.valueHexView.byteLength === this.valueHexView.buffer.byteLength ? this.valueHexView.buffer : pvtsutils__namespace.BufferSourceConverter.toArrayBuffer(this.valueHexView) : (this.error = "Flag 'isHexOnly' is not set, abort", EMPTY_BUFFER);
        }
        toJSON() {
          return {
            ...super.toJSON(),
            isHexOnly: this.isHexOnly,
            valueHex: pvtsutils__namespace.Convert.ToHex(this.valueHexView)
          };
        }
      }, _a2.NAME = "hexBlock", _a2;
    }
    var LocalBaseBlock = class {
      static blockName() {
        return this.NAME;
      }
      get valueBeforeDecode() {
        return this.valueBeforeDecodeView.slice().buffer;
      }
      set valueBeforeDecode(value) {
        this.valueBeforeDecodeView = new Uint8Array(value);
      }
      constructor({ blockLength = 0, error = EMPTY_STRING, warnings = [], valueBeforeDecode = EMPTY_VIEW } = {}) {
        this.blockLength = blockLength, this.error = error, this.warnings = warnings, this.valueBeforeDecodeView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(valueBeforeDecode);
      }
      toJSON() {
        return {
          blockName: this.constructor.NAME,
          blockLength: this.blockLength,
          error: this.error,
          warnings: this.warnings,
          valueBeforeDecode: pvtsutils__namespace.Convert.ToHex(this.valueBeforeDecodeView)
        };
      }
    };
    LocalBaseBlock.NAME = "baseBlock";
    var ValueBlock = class extends LocalBaseBlock {
      fromBER(_inputBuffer, _inputOffset, _inputLength, _context) {
        throw TypeError("User need to make a specific function in a class which extends 'ValueBlock'");
      }
      toBER(_sizeOnly, _writer) {
        throw TypeError("User need to make a specific function in a class which extends 'ValueBlock'");
      }
    };
    ValueBlock.NAME = "valueBlock";
    var LocalIdentificationBlock = class extends HexBlock(LocalBaseBlock) {
      constructor({ idBlock = {} } = {}) {
        var _a2, _b2, _c2, _d;
        super(), idBlock ? (this.isHexOnly = (_a2 = idBlock.isHexOnly) !== null && _a2 !== void 0 ? _a2 : !1, this.valueHexView = idBlock.valueHex ? pvtsutils__namespace.BufferSourceConverter.toUint8Array(idBlock.valueHex) : EMPTY_VIEW, this.tagClass = (_b2 = idBlock.tagClass) !== null && _b2 !== void 0 ? _b2 : -1, this.tagNumber = (_c2 = idBlock.tagNumber) !== null && _c2 !== void 0 ? _c2 : -1, this.isConstructed = (_d = idBlock.isConstructed) !== null && _d !== void 0 ? _d : !1) : (this.tagClass = -1, this.tagNumber = -1, this.isConstructed = !1);
      }
      toBER(sizeOnly = !1) {
        let firstOctet = 0;
        switch (this.tagClass) {
          case 1:
            firstOctet |= 0;
            break;
          case 2:
            firstOctet |= 64;
            break;
          case 3:
            firstOctet |= 128;
            break;
          case 4:
            firstOctet |= 192;
            break;
          default:
            return this.error = "Unknown tag class", EMPTY_BUFFER;
        }
        if (this.isConstructed && (firstOctet |= 32), this.tagNumber < 31 && !this.isHexOnly) {
          let retView2 = new Uint8Array(1);
          if (!sizeOnly) {
            let number = this.tagNumber;
            number &= 31, firstOctet |= number, retView2[0] = firstOctet;
          }
          return retView2.buffer;
        }
        if (!this.isHexOnly) {
          let encodedBuf = pvutils__namespace.utilToBase(this.tagNumber, 7), encodedView = new Uint8Array(encodedBuf), size = encodedBuf.byteLength, retView2 = new Uint8Array(size + 1);
          if (retView2[0] = firstOctet | 31, !sizeOnly) {
            for (let i = 0; i < size - 1; i++)
              retView2[i + 1] = encodedView[i] | 128;
            retView2[size] = encodedView[size - 1];
          }
          return retView2.buffer;
        }
        let retView = new Uint8Array(this.valueHexView.byteLength + 1);
        if (retView[0] = firstOctet | 31, !sizeOnly) {
          let curView = this.valueHexView;
          for (let i = 0; i < curView.length - 1; i++)
            retView[i + 1] = curView[i] | 128;
          retView[this.valueHexView.byteLength] = curView[curView.length - 1];
        }
        return retView.buffer;
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let inputView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        if (!checkBufferParams(this, inputView, inputOffset, inputLength))
          return -1;
        let fastArgs = Number.isInteger(inputOffset) && Number.isInteger(inputLength), intBuffer = fastArgs ? inputView : inputView.subarray(inputOffset, inputOffset + inputLength), baseIndex = fastArgs ? inputOffset : 0, bufferLength = fastArgs ? inputLength : intBuffer.length;
        if (bufferLength === 0)
          return this.error = "Zero buffer length", -1;
        switch (intBuffer[baseIndex] & 192) {
          case 0:
            this.tagClass = 1;
            break;
          case 64:
            this.tagClass = 2;
            break;
          case 128:
            this.tagClass = 3;
            break;
          case 192:
            this.tagClass = 4;
            break;
          default:
            return this.error = "Unknown tag class", -1;
        }
        this.isConstructed = (intBuffer[baseIndex] & 32) === 32, this.isHexOnly = !1;
        let tagNumberMask = intBuffer[baseIndex] & 31;
        if (tagNumberMask !== 31)
          this.tagNumber = tagNumberMask, this.blockLength = 1;
        else {
          let count = 0;
          for (; ; ) {
            let tagByteIndex = count + 1;
            if (tagByteIndex >= bufferLength)
              return this.error = "End of input reached before message was fully decoded", -1;
            if (count++, (intBuffer[baseIndex + tagByteIndex] & 128) === 0)
              break;
          }
          this.blockLength = count + 1;
          let intTagNumberBuffer = this.valueHexView = new Uint8Array(count);
          for (let i = 0; i < count; i++)
            intTagNumberBuffer[i] = intBuffer[baseIndex + i + 1] & 127;
          this.blockLength <= 9 ? this.tagNumber = pvutils__namespace.utilFromBase(intTagNumberBuffer, 7) : (this.isHexOnly = !0, this.warnings.push("Tag too long, represented as hex-coded"));
        }
        if (this.tagClass === 1 && this.isConstructed)
          switch (this.tagNumber) {
            case 1:
            case 2:
            case 5:
            case 6:
            case 9:
            case 13:
            case 14:
            case 23:
            case 24:
            case 31:
            case 32:
            case 33:
            case 34:
              return this.error = "Constructed encoding used for primitive type", -1;
          }
        return inputOffset + this.blockLength;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          tagClass: this.tagClass,
          tagNumber: this.tagNumber,
          isConstructed: this.isConstructed
        };
      }
    };
    LocalIdentificationBlock.NAME = "identificationBlock";
    var ORIGINAL_LOCAL_IDENTIFICATION_TO_BER = LocalIdentificationBlock.prototype.toBER, ORIGINAL_LOCAL_IDENTIFICATION_FROM_BER = LocalIdentificationBlock.prototype.fromBER, LocalLengthBlock = class extends LocalBaseBlock {
      constructor({ lenBlock = {} } = {}) {
        var _a2, _b2, _c2;
        super(), this.isIndefiniteForm = (_a2 = lenBlock.isIndefiniteForm) !== null && _a2 !== void 0 ? _a2 : !1, this.longFormUsed = (_b2 = lenBlock.longFormUsed) !== null && _b2 !== void 0 ? _b2 : !1, this.length = (_c2 = lenBlock.length) !== null && _c2 !== void 0 ? _c2 : 0;
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let view = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        if (!checkBufferParams(this, view, inputOffset, inputLength))
          return -1;
        let fastArgs = Number.isInteger(inputOffset) && Number.isInteger(inputLength), intBuffer = fastArgs ? view : view.subarray(inputOffset, inputOffset + inputLength), baseIndex = fastArgs ? inputOffset : 0, bufferLength = fastArgs ? inputLength : intBuffer.length;
        if (bufferLength === 0)
          return this.error = "Zero buffer length", -1;
        if (intBuffer[baseIndex] === 255)
          return this.error = "Length block 0xFF is reserved by standard", -1;
        if (this.isIndefiniteForm = intBuffer[baseIndex] === 128, this.isIndefiniteForm)
          return this.blockLength = 1, inputOffset + this.blockLength;
        if (this.longFormUsed = !!(intBuffer[baseIndex] & 128), this.longFormUsed === !1)
          return this.length = intBuffer[baseIndex], this.blockLength = 1, inputOffset + this.blockLength;
        let count = intBuffer[baseIndex] & 127;
        if (count > 8)
          return this.error = "Too big integer", -1;
        if (count + 1 > bufferLength)
          return this.error = "End of input reached before message was fully decoded", -1;
        let lenOffset = inputOffset + 1, lengthBufferView = view.subarray(lenOffset, lenOffset + count);
        return lengthBufferView[count - 1] === 0 && this.warnings.push("Needlessly long encoded length"), this.length = pvutils__namespace.utilFromBase(lengthBufferView, 8), this.longFormUsed && this.length <= 127 && this.warnings.push("Unnecessary usage of long length form"), this.blockLength = count + 1, inputOffset + this.blockLength;
      }
      toBER(sizeOnly = !1) {
        let retBuf, retView;
        if (this.length > 127 && (this.longFormUsed = !0), this.isIndefiniteForm)
          return retBuf = new ArrayBuffer(1), sizeOnly === !1 && (retView = new Uint8Array(retBuf), retView[0] = 128), retBuf;
        if (this.longFormUsed) {
          let encodedBuf = pvutils__namespace.utilToBase(this.length, 8);
          if (encodedBuf.byteLength > 127)
            return this.error = "Too big length", EMPTY_BUFFER;
          if (retBuf = new ArrayBuffer(encodedBuf.byteLength + 1), sizeOnly)
            return retBuf;
          let encodedView = new Uint8Array(encodedBuf);
          retView = new Uint8Array(retBuf), retView[0] = encodedBuf.byteLength | 128;
          for (let i = 0; i < encodedBuf.byteLength; i++)
            retView[i + 1] = encodedView[i];
          return retBuf;
        }
        return retBuf = new ArrayBuffer(1), sizeOnly === !1 && (retView = new Uint8Array(retBuf), retView[0] = this.length), retBuf;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          isIndefiniteForm: this.isIndefiniteForm,
          longFormUsed: this.longFormUsed,
          length: this.length
        };
      }
    };
    LocalLengthBlock.NAME = "lengthBlock";
    var ORIGINAL_LOCAL_LENGTH_TO_BER = LocalLengthBlock.prototype.toBER, ORIGINAL_LOCAL_LENGTH_FROM_BER = LocalLengthBlock.prototype.fromBER, typeStore = {}, _a$y, _b, _c, originalUint8ArraySliceInfo = findMethod(Uint8Array.prototype, "slice"), originalUint8ArrayConstructor = (_a$y = Object.getOwnPropertyDescriptor(Uint8Array.prototype, "constructor")) === null || _a$y === void 0 ? void 0 : _a$y.value, originalArrayIterator = (_b = Object.getOwnPropertyDescriptor(Array.prototype, Symbol.iterator)) === null || _b === void 0 ? void 0 : _b.value, intrinsicTypedArrayByteLength = (_c = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "byteLength")) === null || _c === void 0 ? void 0 : _c.get, BUILTIN_DISPATCH_PAYLOAD_THRESHOLD = 16384, BUILTIN_DISPATCH_MAX_DEPTH = 64, builtinRegistry;
    function registerBuiltinEncoder(builtinConstructors, internals) {
      let nextInternals = internals || builtinRegistry;
      if (!nextInternals) {
        builtinRegistry = void 0;
        return;
      }
      builtinRegistry = { ...nextInternals, ...builtinConstructors };
    }
    function dataProperty(object, name) {
      let descriptor = Object.getOwnPropertyDescriptor(object, name);
      if (!(!descriptor || !("value" in descriptor)))
        return descriptor.value;
    }
    function intrinsicPayloadByteLength(value) {
      if (!(!intrinsicTypedArrayByteLength || !value || typeof value != "object"))
        try {
          let byteLength = intrinsicTypedArrayByteLength.call(value);
          return typeof byteLength == "number" ? byteLength : void 0;
        } catch {
          return;
        }
    }
    function largePayloadOrChain(block, depth) {
      if (depth > BUILTIN_DISPATCH_MAX_DEPTH || !block || typeof block != "object")
        return !1;
      let valueBlockDescriptor = Object.getOwnPropertyDescriptor(block, "valueBlock");
      if (!valueBlockDescriptor || !("value" in valueBlockDescriptor))
        return !1;
      let valueBlock = valueBlockDescriptor.value;
      if (!valueBlock || typeof valueBlock != "object")
        return !1;
      let payloadDescriptor = Object.getOwnPropertyDescriptor(valueBlock, "valueHexView");
      if (payloadDescriptor) {
        if (!("value" in payloadDescriptor))
          return !1;
        let byteLength = intrinsicPayloadByteLength(payloadDescriptor.value);
        return byteLength !== void 0 && byteLength >= BUILTIN_DISPATCH_PAYLOAD_THRESHOLD;
      }
      let valuesDescriptor = Object.getOwnPropertyDescriptor(valueBlock, "value");
      if (!valuesDescriptor || !("value" in valuesDescriptor) || !Array.isArray(valuesDescriptor.value))
        return !1;
      let values = valuesDescriptor.value, lengthDescriptor = Object.getOwnPropertyDescriptor(values, "length");
      if (!lengthDescriptor || !("value" in lengthDescriptor) || lengthDescriptor.value !== 1)
        return !1;
      let indexDescriptor = Object.getOwnPropertyDescriptor(values, "0");
      return !indexDescriptor || !("value" in indexDescriptor) ? !1 : largePayloadOrChain(indexDescriptor.value, depth + 1);
    }
    function shouldUseBuiltinEncoder(block) {
      try {
        return largePayloadOrChain(block, 0);
      } catch {
        return !1;
      }
    }
    function sameDataMethod(current, original) {
      return !!current && "value" in current && current.value === original && current.writable === !0 && current.enumerable === !1 && current.configurable === !0;
    }
    function writerMethodsStable(registry) {
      return sameDataMethod(Object.getOwnPropertyDescriptor(registry.ViewWriter.prototype, "write"), registry.originalWriterWrite) && sameDataMethod(Object.getOwnPropertyDescriptor(registry.ViewWriter.prototype, "final"), registry.originalWriterFinal);
    }
    function findMethod(prototype, name) {
      let current = prototype;
      for (; current; ) {
        let descriptor = Object.getOwnPropertyDescriptor(current, name);
        if (descriptor)
          return "value" in descriptor && typeof descriptor.value == "function" ? { declaringPrototype: current, method: descriptor.value } : void 0;
        current = Object.getPrototypeOf(current);
      }
    }
    function stableInheritedMethod(prototype, name, original) {
      if (!original)
        return !1;
      let current = prototype;
      for (; current; ) {
        let descriptor = Object.getOwnPropertyDescriptor(current, name);
        if (current === original.declaringPrototype)
          return !!descriptor && "value" in descriptor && descriptor.value === original.method;
        if (descriptor)
          return !1;
        current = Object.getPrototypeOf(current);
      }
      return !1;
    }
    function prototypeMethod(object, prototype, name, expected) {
      if (Object.prototype.hasOwnProperty.call(object, name) || Object.getPrototypeOf(object) !== prototype)
        return !1;
      let descriptor = Object.getOwnPropertyDescriptor(prototype, name);
      return !!descriptor && "value" in descriptor && descriptor.value === expected;
    }
    function inheritedMethod(object, name, expected, primitiveConstructor) {
      if (Object.prototype.hasOwnProperty.call(object, name))
        return !1;
      let prototype = Object.getPrototypeOf(object), originalPrimitiveValuePrototype = Object.getPrototypeOf(primitiveConstructor.prototype);
      if (prototype !== primitiveConstructor.prototype || Object.getPrototypeOf(prototype) !== originalPrimitiveValuePrototype || prototype && Object.getOwnPropertyDescriptor(prototype, name))
        return !1;
      let parentDescriptor = Object.getOwnPropertyDescriptor(originalPrimitiveValuePrototype, name);
      return !!parentDescriptor && "value" in parentDescriptor && parentDescriptor.value === expected;
    }
    function plainPayload(value, allowEmpty = !1) {
      if (!(value instanceof Uint8Array) || Object.getPrototypeOf(value) !== Uint8Array.prototype)
        return;
      for (let name of ["buffer", "byteOffset", "byteLength", "length", "slice", "constructor"])
        if (Object.prototype.hasOwnProperty.call(value, name))
          return;
      let constructorDescriptor = Object.getOwnPropertyDescriptor(Uint8Array.prototype, "constructor");
      if (!(!constructorDescriptor || !("value" in constructorDescriptor) || constructorDescriptor.value !== originalUint8ArrayConstructor) && stableInheritedMethod(Uint8Array.prototype, "slice", originalUint8ArraySliceInfo)) {
        try {
          let buffer = value.buffer;
          if (!(buffer instanceof ArrayBuffer) || Object.getPrototypeOf(buffer) !== ArrayBuffer.prototype || Object.prototype.hasOwnProperty.call(buffer, "byteLength") || value.byteLength !== value.length || !allowEmpty && value.byteLength === 0 || value.byteOffset < 0 || value.byteOffset + value.byteLength > buffer.byteLength)
            return;
        } catch {
          return;
        }
        return value;
      }
    }
    function validIdBlock(block, constructed, registry) {
      if (Object.getPrototypeOf(block) !== registry.LocalIdentificationBlock.prototype || !prototypeMethod(block, registry.LocalIdentificationBlock.prototype, "toBER", registry.originalIdentificationToBER))
        return !1;
      let tagClass = dataProperty(block, "tagClass"), tagNumber = dataProperty(block, "tagNumber"), isConstructed2 = dataProperty(block, "isConstructed"), isHexOnly = dataProperty(block, "isHexOnly"), valueHexView = dataProperty(block, "valueHexView");
      return typeof tagClass != "number" || !Number.isInteger(tagClass) || tagClass < 1 || tagClass > 4 || typeof tagNumber != "number" || !Number.isInteger(tagNumber) || tagNumber < 0 || isConstructed2 !== constructed || typeof isHexOnly != "boolean" ? !1 : isHexOnly ? !!plainPayload(valueHexView) : Number.isSafeInteger(tagNumber);
    }
    function validLengthBlock(block, allowIndefinite, registry) {
      if (Object.getPrototypeOf(block) !== registry.LocalLengthBlock.prototype || !prototypeMethod(block, registry.LocalLengthBlock.prototype, "toBER", registry.originalLengthToBER))
        return !1;
      let indefinite = dataProperty(block, "isIndefiniteForm"), longForm = dataProperty(block, "longFormUsed"), lengthDescriptor = Object.getOwnPropertyDescriptor(block, "length"), length = lengthDescriptor && "value" in lengthDescriptor ? lengthDescriptor.value : void 0, longFormDescriptor = Object.getOwnPropertyDescriptor(block, "longFormUsed");
      return typeof indefinite == "boolean" && (indefinite === !1 || allowIndefinite) && typeof longForm == "boolean" && !!longFormDescriptor && "value" in longFormDescriptor && longFormDescriptor.writable === !0 && !!lengthDescriptor && "value" in lengthDescriptor && lengthDescriptor.writable === !0 && typeof length == "number" && Number.isSafeInteger(length) && length >= 0;
    }
    function validBaseBlock(block, isConstructed2, registry) {
      let idBlock = dataProperty(block, "idBlock"), lenBlock = dataProperty(block, "lenBlock");
      return !!idBlock && !!lenBlock && validIdBlock(idBlock, isConstructed2, registry) && validLengthBlock(lenBlock, isConstructed2, registry);
    }
    function constructedChild(block, registry) {
      let valueBlock = dataProperty(block, "valueBlock");
      if (!valueBlock || Object.getPrototypeOf(valueBlock) !== registry.LocalConstructedValueBlock.prototype || !prototypeMethod(valueBlock, registry.LocalConstructedValueBlock.prototype, "toBER", registry.originalConstructedToBER))
        return;
      let values = dataProperty(valueBlock, "value");
      if (!Array.isArray(values) || Object.getPrototypeOf(values) !== Array.prototype)
        return;
      let lengthDescriptor = Object.getOwnPropertyDescriptor(values, "length");
      if (!lengthDescriptor || !("value" in lengthDescriptor) || lengthDescriptor.value !== 1 || Object.prototype.hasOwnProperty.call(values, Symbol.iterator))
        return;
      let iteratorDescriptor = Object.getOwnPropertyDescriptor(Array.prototype, Symbol.iterator);
      if (!iteratorDescriptor || !("value" in iteratorDescriptor) || iteratorDescriptor.value !== originalArrayIterator)
        return;
      let indexDescriptor = Object.getOwnPropertyDescriptor(values, "0");
      if (!(!indexDescriptor || !("value" in indexDescriptor)) && Object.getOwnPropertyNames(values).length === 2)
        return indexDescriptor.value;
    }
    function bitPayload(block, registry) {
      let valueBlock = dataProperty(block, "valueBlock");
      if (!valueBlock || Object.getPrototypeOf(valueBlock) !== registry.LocalBitStringValueBlock.prototype || !prototypeMethod(valueBlock, registry.LocalBitStringValueBlock.prototype, "toBER", registry.originalBitStringToBER) || dataProperty(valueBlock, "isConstructed") !== !1)
        return;
      let unusedBits = dataProperty(valueBlock, "unusedBits");
      if (typeof unusedBits != "number" || !Number.isInteger(unusedBits) || unusedBits < 0 || unusedBits > 7)
        return;
      let payload = plainPayload(dataProperty(valueBlock, "valueHexView"), !0);
      if (payload)
        return { payload, prefix: Uint8Array.of(payload.byteLength ? unusedBits : 0) };
    }
    function primitivePayload(block, kind, registry) {
      let valueBlock = dataProperty(block, "valueBlock");
      if (valueBlock) {
        if (kind === "integer") {
          if (Object.getPrototypeOf(valueBlock) !== registry.LocalIntegerValueBlock.prototype || !prototypeMethod(valueBlock, registry.LocalIntegerValueBlock.prototype, "toBER", registry.originalIntegerToBER))
            return;
        } else if (kind === "octet") {
          if (Object.getPrototypeOf(valueBlock) !== registry.LocalOctetStringValueBlock.prototype || !prototypeMethod(valueBlock, registry.LocalOctetStringValueBlock.prototype, "toBER", registry.originalOctetStringToBER) || dataProperty(valueBlock, "isConstructed") !== !1)
            return;
        } else if (Object.getPrototypeOf(valueBlock) !== registry.LocalPrimitiveValueBlock.prototype || !inheritedMethod(valueBlock, "toBER", registry.originalPrimitiveToBER, registry.LocalPrimitiveValueBlock))
          return;
        if (!(kind === "primitive" && dataProperty(valueBlock, "isHexOnly") !== !0) && typeof dataProperty(valueBlock, "isHexOnly") == "boolean")
          return plainPayload(dataProperty(valueBlock, "valueHexView"));
      }
    }
    function validOuterMethod(block, registry) {
      if (Object.prototype.hasOwnProperty.call(block, "toBER"))
        return !1;
      let prototype = block;
      for (; prototype; ) {
        let descriptor = Object.getOwnPropertyDescriptor(prototype, "toBER");
        if (descriptor)
          return "value" in descriptor && descriptor.value === registry.originalBaseBlockToBER;
        prototype = Object.getPrototypeOf(prototype);
      }
      return !1;
    }
    function isPrimitive(block, type, registry) {
      let constructor = registry[type];
      return !!constructor && Object.getPrototypeOf(block) === constructor.prototype;
    }
    function isConstructed(block, registry) {
      return Object.getPrototypeOf(block) === registry.Sequence.prototype || Object.getPrototypeOf(block) === registry.Set.prototype || Object.getPrototypeOf(block) === registry.Constructed.prototype;
    }
    function inspectNode(block, depth, registry) {
      if (!(depth > BUILTIN_DISPATCH_MAX_DEPTH || !block || typeof block != "object"))
        try {
          if (!validOuterMethod(block, registry))
            return;
          let primitiveKind = isPrimitive(block, "BitString", registry) ? "bit" : isPrimitive(block, "Integer", registry) ? "integer" : isPrimitive(block, "OctetString", registry) ? "octet" : isPrimitive(block, "Primitive", registry) ? "primitive" : void 0, constructed = primitiveKind === void 0 && isConstructed(block, registry);
          if (!primitiveKind && !constructed || !validBaseBlock(block, constructed, registry))
            return;
          let idBlock = dataProperty(block, "idBlock"), lenBlock = dataProperty(block, "lenBlock");
          if (!idBlock || !lenBlock)
            return;
          if (primitiveKind) {
            let bit = primitiveKind === "bit" ? bitPayload(block, registry) : void 0, payload = primitiveKind === "bit" ? bit?.payload : primitivePayload(block, primitiveKind, registry);
            return payload ? { block, kind: primitiveKind, idBlock, lenBlock, indefinite: !1, payload, prefix: bit?.prefix } : void 0;
          }
          let child = constructedChild(block, registry), validatedChild = child && inspectNode(child, depth + 1, registry), indefinite = dataProperty(lenBlock, "isIndefiniteForm");
          return validatedChild ? { block, kind: "constructed", idBlock, lenBlock, indefinite: indefinite === !0, child: validatedChild } : void 0;
        } catch {
          return;
        }
    }
    function buildNode(node, sizeOnly, registry) {
      var _a2, _b2;
      let id = Reflect.apply(registry.originalIdentificationToBER, node.idBlock, [sizeOnly]);
      if (!(id instanceof ArrayBuffer) || id.byteLength === 0)
        throw TypeError("Built-in identifier encoding failed");
      let payload;
      node.kind === "constructed" ? payload = buildNode(node.child, sizeOnly, registry) : payload = node.payload;
      let length = (payload instanceof Uint8Array ? payload.byteLength : payload.total) + ((_b2 = (_a2 = node.prefix) === null || _a2 === void 0 ? void 0 : _a2.byteLength) !== null && _b2 !== void 0 ? _b2 : 0), len;
      if (node.indefinite)
        len = Uint8Array.of(128).buffer;
      else if (node.lenBlock.length = length, len = Reflect.apply(registry.originalLengthToBER, node.lenBlock, [sizeOnly]), !(len instanceof ArrayBuffer) || len.byteLength === 0)
        throw TypeError("Built-in length encoding failed");
      let total = id.byteLength + len.byteLength + length + (node.indefinite ? 2 : 0);
      if (!Number.isSafeInteger(total))
        throw RangeError("Built-in encoding is too large");
      return { id, len, payload, length, total, indefinite: node.indefinite, prefix: node.prefix };
    }
    function flatten(node, output, offset, sizeOnly) {
      return output.set(new Uint8Array(node.id), offset), offset += node.id.byteLength, output.set(new Uint8Array(node.len), offset), offset += node.len.byteLength, node.prefix && (sizeOnly || output.set(node.prefix, offset), offset += node.prefix.byteLength), node.payload instanceof Uint8Array ? (sizeOnly || output.set(node.payload, offset), offset += node.payload.byteLength) : offset = flatten(node.payload, output, offset, sizeOnly), node.indefinite && (offset += 2), offset;
    }
    function tryEncodeBuiltin(block, sizeOnly = !1) {
      let registry = builtinRegistry;
      if (!registry || !writerMethodsStable(registry))
        return;
      let validated = inspectNode(block, 0, registry);
      if (!validated)
        return;
      let node = buildNode(validated, sizeOnly, registry), output = new Uint8Array(node.total);
      return flatten(node, output, 0, sizeOnly), output.buffer;
    }
    var BaseBlock = class extends LocalBaseBlock {
      constructor({ name = EMPTY_STRING, optional = !1, primitiveSchema, ...parameters } = {}, valueBlockType) {
        super(parameters), this.name = name, this.optional = optional, primitiveSchema && (this.primitiveSchema = primitiveSchema), this.idBlock = new LocalIdentificationBlock(parameters), this.lenBlock = new LocalLengthBlock(parameters), this.valueBlock = valueBlockType ? new valueBlockType(parameters) : new ValueBlock(parameters);
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        let resultOffset = this.valueBlock.fromBER(inputBuffer, inputOffset, this.lenBlock.isIndefiniteForm ? inputLength : this.lenBlock.length, context);
        return resultOffset === -1 ? (this.error = this.valueBlock.error, resultOffset) : (this.idBlock.error.length || (this.blockLength += this.idBlock.blockLength), this.lenBlock.error.length || (this.blockLength += this.lenBlock.blockLength), this.valueBlock.error.length || (this.blockLength += this.valueBlock.blockLength), resultOffset);
      }
      toBER(sizeOnly, writer) {
        let _writer = writer || new ViewWriter();
        if (!writer && (prepareIndefiniteForm(this), (sizeOnly === !0 || sizeOnly === !1 || sizeOnly === void 0) && shouldUseBuiltinEncoder(this))) {
          let encoded = tryEncodeBuiltin(this, sizeOnly === !0);
          if (encoded)
            return encoded;
        }
        let idBlockBuf = this.idBlock.toBER(sizeOnly);
        if (_writer.write(idBlockBuf), this.lenBlock.isIndefiniteForm)
          _writer.write(new Uint8Array([128]).buffer), this.valueBlock.toBER(sizeOnly, _writer), _writer.write(new ArrayBuffer(2));
        else {
          let valueBlockBuf = this.valueBlock.toBER(sizeOnly);
          this.lenBlock.length = valueBlockBuf.byteLength;
          let lenBlockBuf = this.lenBlock.toBER(sizeOnly);
          _writer.write(lenBlockBuf), _writer.write(valueBlockBuf);
        }
        return writer ? EMPTY_BUFFER : _writer.final();
      }
      toJSON() {
        let object = {
          ...super.toJSON(),
          idBlock: this.idBlock.toJSON(),
          lenBlock: this.lenBlock.toJSON(),
          valueBlock: this.valueBlock.toJSON(),
          name: this.name,
          optional: this.optional
        };
        return this.primitiveSchema && (object.primitiveSchema = this.primitiveSchema.toJSON()), object;
      }
      toString(encoding = "ascii") {
        return encoding === "ascii" ? this.onAsciiEncoding() : pvtsutils__namespace.Convert.ToHex(this.toBER());
      }
      onAsciiEncoding() {
        let name = this.constructor.NAME, value = pvtsutils__namespace.Convert.ToHex(this.valueBlock.valueBeforeDecodeView);
        return `${name} : ${value}`;
      }
      isEqual(other) {
        if (this === other)
          return !0;
        if (!(other instanceof this.constructor))
          return !1;
        let thisRaw = this.toBER(), otherRaw = other.toBER();
        return pvutils__namespace.isEqualBuffer(thisRaw, otherRaw);
      }
    };
    BaseBlock.NAME = "BaseBlock";
    var ORIGINAL_BASE_BLOCK_TO_BER = BaseBlock.prototype.toBER;
    function prepareIndefiniteForm(baseBlock) {
      var _a2;
      if (baseBlock instanceof typeStore.Constructed)
        for (let value of baseBlock.valueBlock.value)
          prepareIndefiniteForm(value) && (baseBlock.lenBlock.isIndefiniteForm = !0);
      return !!(!((_a2 = baseBlock.lenBlock) === null || _a2 === void 0) && _a2.isIndefiniteForm);
    }
    var BaseStringBlock = class extends BaseBlock {
      getValue() {
        return this.valueBlock.value;
      }
      setValue(value) {
        this.valueBlock.value = value;
      }
      constructor({ value = EMPTY_STRING, ...parameters } = {}, stringValueBlockType) {
        super(parameters, stringValueBlockType), value && this.fromString(value);
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let resultOffset = this.valueBlock.fromBER(inputBuffer, inputOffset, this.lenBlock.isIndefiniteForm ? inputLength : this.lenBlock.length);
        return resultOffset === -1 ? (this.error = this.valueBlock.error, resultOffset) : (this.fromBuffer(this.valueBlock.valueHexView), this.idBlock.error.length || (this.blockLength += this.idBlock.blockLength), this.lenBlock.error.length || (this.blockLength += this.lenBlock.blockLength), this.valueBlock.error.length || (this.blockLength += this.valueBlock.blockLength), resultOffset);
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME} : '${this.valueBlock.value}'`;
      }
    };
    BaseStringBlock.NAME = "BaseStringBlock";
    var _a$x, LocalPrimitiveValueBlock = class extends HexBlock(ValueBlock) {
      constructor({ isHexOnly = !0, ...parameters } = {}) {
        super(parameters), this.isHexOnly = isHexOnly;
      }
    };
    LocalPrimitiveValueBlock.NAME = "PrimitiveValueBlock";
    var ORIGINAL_LOCAL_PRIMITIVE_TO_BER = (_a$x = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(LocalPrimitiveValueBlock.prototype), "toBER")) === null || _a$x === void 0 ? void 0 : _a$x.value, _a$w, Primitive = class extends BaseBlock {
      constructor(parameters = {}) {
        super(parameters, LocalPrimitiveValueBlock), this.idBlock.isConstructed = !1;
      }
    };
    _a$w = Primitive;
    typeStore.Primitive = _a$w;
    Primitive.NAME = "PRIMITIVE";
    var fastParserRegistry;
    function registerFastParser(constructors) {
      fastParserRegistry = {
        Integer: constructors.Integer,
        Null: constructors.Null,
        Sequence: constructors.Sequence
      };
    }
    function fastParserContext(context) {
      let nodes = Object.getOwnPropertyDescriptor(context, "nodesCount"), maxNodes = Object.getOwnPropertyDescriptor(context, "maxNodes"), maxContentLength = Object.getOwnPropertyDescriptor(context, "maxContentLength");
      return !nodes || !("value" in nodes) || nodes.writable !== !0 || !maxNodes || !("value" in maxNodes) || !maxContentLength || !("value" in maxContentLength) ? !1 : typeof nodes.value == "number" && Number.isSafeInteger(nodes.value) && nodes.value >= 0 && typeof maxNodes.value == "number" && Number.isSafeInteger(maxNodes.value) && maxNodes.value >= 0 && typeof maxContentLength.value == "number" && Number.isSafeInteger(maxContentLength.value) && maxContentLength.value >= 0 && nodes.value < maxNodes.value;
    }
    function fastParserType(store, name, value) {
      let descriptor = Object.getOwnPropertyDescriptor(store, name);
      return !!descriptor && "value" in descriptor && descriptor.value === value;
    }
    function tryFastFromBER(inputBuffer, inputOffset, inputLength, context) {
      let registry = fastParserRegistry;
      if (!registry)
        return;
      let Constructor, length = 0;
      try {
        if (Object.getPrototypeOf(inputBuffer) !== Uint8Array.prototype || !Number.isSafeInteger(inputOffset) || inputOffset < 0 || !Number.isSafeInteger(inputLength) || inputLength < 2 || inputOffset > inputBuffer.byteLength || inputLength > inputBuffer.byteLength - inputOffset)
          return;
        let tag = inputBuffer[inputOffset];
        if (tag !== 2 && tag !== 5 && tag !== 48 || (length = inputBuffer[inputOffset + 1], length >= 128 || length > inputLength - 2) || tag === 5 && length !== 0 || !fastParserContext(context) || length > Object.getOwnPropertyDescriptor(context, "maxContentLength").value)
          return;
        let constructorName = tag === 2 ? "Integer" : tag === 5 ? "Null" : "Sequence";
        if (Constructor = registry[constructorName], !fastParserType(typeStore, constructorName, Constructor))
          return;
        let identificationFromBER = Object.getOwnPropertyDescriptor(LocalIdentificationBlock.prototype, "fromBER"), lengthFromBER = Object.getOwnPropertyDescriptor(LocalLengthBlock.prototype, "fromBER");
        if (!identificationFromBER || !("value" in identificationFromBER) || identificationFromBER.value !== ORIGINAL_LOCAL_IDENTIFICATION_FROM_BER || !lengthFromBER || !("value" in lengthFromBER) || lengthFromBER.value !== ORIGINAL_LOCAL_LENGTH_FROM_BER)
          return;
      } catch {
        return;
      }
      if (!Constructor)
        return;
      let result = new Constructor();
      result.idBlock.tagClass = 1, result.idBlock.tagNumber = inputBuffer[inputOffset] & 31, result.idBlock.isConstructed = inputBuffer[inputOffset] === 48, result.idBlock.isHexOnly = !1, result.idBlock.blockLength = 1, result.lenBlock.isIndefiniteForm = !1, result.lenBlock.longFormUsed = !1, result.lenBlock.length = length, result.lenBlock.blockLength = 1, context.nodesCount += 1;
      let resultOffset = result.fromBER(inputBuffer, inputOffset + 2, length, context);
      return result.valueBeforeDecodeView = inputBuffer.subarray(inputOffset, inputOffset + result.blockLength), { offset: resultOffset, result };
    }
    var DEFAULT_MAX_DEPTH = 100, DEFAULT_MAX_NODES = 1e4, DEFAULT_MAX_CONTENT_LENGTH = 16 * 1024 * 1024, MAX_DEPTH_EXCEEDED_ERROR = "Maximum ASN.1 nesting depth exceeded", MAX_NODES_EXCEEDED_ERROR = "Maximum ASN.1 node count exceeded", MAX_CONTENT_LENGTH_EXCEEDED_ERROR = "Maximum ASN.1 content length exceeded";
    function createFromBerContext(options = {}) {
      var _a2, _b2, _c2, _d;
      return {
        depth: 0,
        maxDepth: (_a2 = options.maxDepth) !== null && _a2 !== void 0 ? _a2 : DEFAULT_MAX_DEPTH,
        nodesCount: 0,
        maxNodes: (_b2 = options.maxNodes) !== null && _b2 !== void 0 ? _b2 : DEFAULT_MAX_NODES,
        maxContentLength: (_c2 = options.maxContentLength) !== null && _c2 !== void 0 ? _c2 : DEFAULT_MAX_CONTENT_LENGTH,
        parseEmbedded: (_d = options.parseEmbedded) !== null && _d !== void 0 ? _d : !0
      };
    }
    function createErrorResult(error) {
      let result = new BaseBlock({}, ValueBlock);
      return result.error = error, {
        offset: -1,
        result
      };
    }
    function checkNodesLimit(context) {
      if (context.nodesCount += 1, context.nodesCount > context.maxNodes)
        return MAX_NODES_EXCEEDED_ERROR;
    }
    function checkContentLengthLimit(inputLength, context) {
      if (inputLength > context.maxContentLength)
        return MAX_CONTENT_LENGTH_EXCEEDED_ERROR;
    }
    function localFromBERWithChildContext(inputBuffer, inputOffset, inputLength, context) {
      let childDepth = context.depth + 1;
      if (childDepth > context.maxDepth)
        return createErrorResult(MAX_DEPTH_EXCEEDED_ERROR);
      context.depth = childDepth;
      try {
        return localFromBER(inputBuffer, inputOffset, inputLength, context);
      } finally {
        context.depth -= 1;
      }
    }
    function localChangeType(inputObject, newType) {
      if (inputObject instanceof newType)
        return inputObject;
      let newObject = new newType();
      return newObject.idBlock = inputObject.idBlock, newObject.lenBlock = inputObject.lenBlock, newObject.warnings = inputObject.warnings, newObject.valueBeforeDecodeView = inputObject.valueBeforeDecodeView, newObject;
    }
    function localFromBER(inputBuffer, inputOffset = 0, inputLength = inputBuffer.length, context = createFromBerContext()) {
      let fastResult = tryFastFromBER(inputBuffer, inputOffset, inputLength, context);
      if (fastResult)
        return fastResult;
      let incomingOffset = inputOffset, returnObject = new BaseBlock({}, ValueBlock);
      if (!checkBufferParams(returnObject, inputBuffer, inputOffset, inputLength))
        return {
          offset: -1,
          result: returnObject
        };
      if (Number.isInteger(inputOffset) && Number.isInteger(inputLength) ? inputLength === 0 : inputBuffer.subarray(inputOffset, inputOffset + inputLength).length === 0)
        return returnObject.error = "Zero buffer length", {
          offset: -1,
          result: returnObject
        };
      let nodesLimitError = checkNodesLimit(context);
      if (nodesLimitError)
        return returnObject.error = nodesLimitError, {
          offset: -1,
          result: returnObject
        };
      let resultOffset = returnObject.idBlock.fromBER(inputBuffer, inputOffset, inputLength);
      if (returnObject.idBlock.warnings.length && returnObject.warnings.concat(returnObject.idBlock.warnings), resultOffset === -1)
        return returnObject.error = returnObject.idBlock.error, {
          offset: -1,
          result: returnObject
        };
      if (inputOffset = resultOffset, inputLength -= returnObject.idBlock.blockLength, resultOffset = returnObject.lenBlock.fromBER(inputBuffer, inputOffset, inputLength), returnObject.lenBlock.warnings.length && returnObject.warnings.concat(returnObject.lenBlock.warnings), resultOffset === -1)
        return returnObject.error = returnObject.lenBlock.error, {
          offset: -1,
          result: returnObject
        };
      inputOffset = resultOffset, inputLength -= returnObject.lenBlock.blockLength;
      let valueLength = returnObject.lenBlock.isIndefiniteForm ? inputLength : returnObject.lenBlock.length, contentLengthError = checkContentLengthLimit(valueLength, context);
      if (contentLengthError)
        return returnObject.error = contentLengthError, {
          offset: -1,
          result: returnObject
        };
      if (!returnObject.idBlock.isConstructed && returnObject.lenBlock.isIndefiniteForm)
        return returnObject.error = "Indefinite length form used for primitive encoding form", {
          offset: -1,
          result: returnObject
        };
      let newASN1Type = BaseBlock;
      switch (returnObject.idBlock.tagClass) {
        case 1:
          if (returnObject.idBlock.tagNumber >= 37 && returnObject.idBlock.isHexOnly === !1)
            return returnObject.error = "UNIVERSAL 37 and upper tags are reserved by ASN.1 standard", {
              offset: -1,
              result: returnObject
            };
          switch (returnObject.idBlock.tagNumber) {
            case 0:
              if (returnObject.idBlock.isConstructed && returnObject.lenBlock.length > 0)
                return returnObject.error = "Type [UNIVERSAL 0] is reserved", {
                  offset: -1,
                  result: returnObject
                };
              newASN1Type = typeStore.EndOfContent;
              break;
            case 1:
              newASN1Type = typeStore.Boolean;
              break;
            case 2:
              newASN1Type = typeStore.Integer;
              break;
            case 3:
              newASN1Type = typeStore.BitString;
              break;
            case 4:
              newASN1Type = typeStore.OctetString;
              break;
            case 5:
              newASN1Type = typeStore.Null;
              break;
            case 6:
              newASN1Type = typeStore.ObjectIdentifier;
              break;
            case 10:
              newASN1Type = typeStore.Enumerated;
              break;
            case 12:
              newASN1Type = typeStore.Utf8String;
              break;
            case 13:
              newASN1Type = typeStore.RelativeObjectIdentifier;
              break;
            case 14:
              newASN1Type = typeStore.TIME;
              break;
            case 15:
              return returnObject.error = "[UNIVERSAL 15] is reserved by ASN.1 standard", {
                offset: -1,
                result: returnObject
              };
            case 16:
              newASN1Type = typeStore.Sequence;
              break;
            case 17:
              newASN1Type = typeStore.Set;
              break;
            case 18:
              newASN1Type = typeStore.NumericString;
              break;
            case 19:
              newASN1Type = typeStore.PrintableString;
              break;
            case 20:
              newASN1Type = typeStore.TeletexString;
              break;
            case 21:
              newASN1Type = typeStore.VideotexString;
              break;
            case 22:
              newASN1Type = typeStore.IA5String;
              break;
            case 23:
              newASN1Type = typeStore.UTCTime;
              break;
            case 24:
              newASN1Type = typeStore.GeneralizedTime;
              break;
            case 25:
              newASN1Type = typeStore.GraphicString;
              break;
            case 26:
              newASN1Type = typeStore.VisibleString;
              break;
            case 27:
              newASN1Type = typeStore.GeneralString;
              break;
            case 28:
              newASN1Type = typeStore.UniversalString;
              break;
            case 29:
              newASN1Type = typeStore.CharacterString;
              break;
            case 30:
              newASN1Type = typeStore.BmpString;
              break;
            case 31:
              newASN1Type = typeStore.DATE;
              break;
            case 32:
              newASN1Type = typeStore.TimeOfDay;
              break;
            case 33:
              newASN1Type = typeStore.DateTime;
              break;
            case 34:
              newASN1Type = typeStore.Duration;
              break;
            default: {
              let newObject = returnObject.idBlock.isConstructed ? new typeStore.Constructed() : new typeStore.Primitive();
              newObject.idBlock = returnObject.idBlock, newObject.lenBlock = returnObject.lenBlock, newObject.warnings = returnObject.warnings, returnObject = newObject;
            }
          }
          break;
        default:
          newASN1Type = returnObject.idBlock.isConstructed ? typeStore.Constructed : typeStore.Primitive;
      }
      return returnObject = localChangeType(returnObject, newASN1Type), resultOffset = returnObject.fromBER(inputBuffer, inputOffset, valueLength, context), returnObject.valueBeforeDecodeView = inputBuffer.subarray(incomingOffset, incomingOffset + returnObject.blockLength), {
        offset: resultOffset,
        result: returnObject
      };
    }
    function fromBER(inputBuffer, options = {}) {
      if (!inputBuffer.byteLength) {
        let result = new BaseBlock({}, ValueBlock);
        return result.error = "Input buffer has zero length", {
          offset: -1,
          result
        };
      }
      let inputView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer), normalizedInput = options.copyInput === !1 ? inputView : inputView.slice();
      return localFromBER(normalizedInput, 0, inputBuffer.byteLength, createFromBerContext(options));
    }
    function checkLen(indefiniteLength, length) {
      return indefiniteLength ? 1 : length;
    }
    var LocalConstructedValueBlock = class extends ValueBlock {
      constructor({ value = [], isIndefiniteForm = !1, ...parameters } = {}) {
        super(parameters), this.value = value, this.isIndefiniteForm = isIndefiniteForm;
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        let view = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer), parseContext = context ?? createFromBerContext();
        if (!checkBufferParams(this, view, inputOffset, inputLength))
          return -1;
        if (this.valueBeforeDecodeView = view.subarray(inputOffset, inputOffset + inputLength), this.valueBeforeDecodeView.length === 0)
          return this.warnings.push("Zero buffer length"), inputOffset;
        let currentOffset = inputOffset;
        for (; checkLen(this.isIndefiniteForm, inputLength) > 0; ) {
          let returnObject = localFromBERWithChildContext(view, currentOffset, inputLength, parseContext);
          if (returnObject.offset === -1)
            return this.error = returnObject.result.error, this.warnings.concat(returnObject.result.warnings), -1;
          if (currentOffset = returnObject.offset, this.blockLength += returnObject.result.blockLength, inputLength -= returnObject.result.blockLength, this.value.push(returnObject.result), this.isIndefiniteForm && returnObject.result.constructor.NAME === END_OF_CONTENT_NAME)
            break;
        }
        return this.isIndefiniteForm && (this.value[this.value.length - 1].constructor.NAME === END_OF_CONTENT_NAME ? this.value.pop() : this.warnings.push("No EndOfContent block encoded")), currentOffset;
      }
      toBER(sizeOnly, writer) {
        let _writer = writer || new ViewWriter();
        for (let i = 0; i < this.value.length; i++)
          this.value[i].toBER(sizeOnly, _writer);
        return writer ? EMPTY_BUFFER : _writer.final();
      }
      toJSON() {
        let object = {
          ...super.toJSON(),
          isIndefiniteForm: this.isIndefiniteForm,
          value: []
        };
        for (let value of this.value)
          object.value.push(value.toJSON());
        return object;
      }
    };
    LocalConstructedValueBlock.NAME = "ConstructedValueBlock";
    var ORIGINAL_LOCAL_CONSTRUCTED_TO_BER = LocalConstructedValueBlock.prototype.toBER, _a$v, Constructed = class extends BaseBlock {
      constructor(parameters = {}) {
        super(parameters, LocalConstructedValueBlock), this.idBlock.isConstructed = !0;
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        this.valueBlock.isIndefiniteForm = this.lenBlock.isIndefiniteForm;
        let resultOffset = this.valueBlock.fromBER(inputBuffer, inputOffset, this.lenBlock.isIndefiniteForm ? inputLength : this.lenBlock.length, context);
        return resultOffset === -1 ? (this.error = this.valueBlock.error, resultOffset) : (this.idBlock.error.length || (this.blockLength += this.idBlock.blockLength), this.lenBlock.error.length || (this.blockLength += this.lenBlock.blockLength), this.valueBlock.error.length || (this.blockLength += this.valueBlock.blockLength), resultOffset);
      }
      onAsciiEncoding() {
        let values = [];
        for (let value of this.valueBlock.value)
          values.push(value.toString("ascii").split(`
`).map((o) => `  ${o}`).join(`
`));
        let blockName = this.idBlock.tagClass === 3 ? `[${this.idBlock.tagNumber}]` : this.constructor.NAME;
        return values.length ? `${blockName} :
${values.join(`
`)}` : `${blockName} :`;
      }
    };
    _a$v = Constructed;
    typeStore.Constructed = _a$v;
    Constructed.NAME = "CONSTRUCTED";
    var LocalEndOfContentValueBlock = class extends ValueBlock {
      fromBER(inputBuffer, inputOffset, _inputLength) {
        return inputOffset;
      }
      toBER(_sizeOnly) {
        return EMPTY_BUFFER;
      }
    };
    LocalEndOfContentValueBlock.override = "EndOfContentValueBlock";
    var _a$u, EndOfContent = class extends BaseBlock {
      constructor(parameters = {}) {
        super(parameters, LocalEndOfContentValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 0;
      }
    };
    _a$u = EndOfContent;
    typeStore.EndOfContent = _a$u;
    EndOfContent.NAME = END_OF_CONTENT_NAME;
    var _a$t, Null = class extends BaseBlock {
      constructor(parameters = {}) {
        super(parameters, ValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 5;
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        return this.lenBlock.length > 0 && this.warnings.push("Non-zero length of value block for Null type"), this.idBlock.error.length || (this.blockLength += this.idBlock.blockLength), this.lenBlock.error.length || (this.blockLength += this.lenBlock.blockLength), this.blockLength += inputLength, inputOffset + inputLength > inputBuffer.byteLength ? (this.error = "End of input reached before message was fully decoded (inconsistent offset and length values)", -1) : inputOffset + inputLength;
      }
      toBER(sizeOnly, writer) {
        let retBuf = new ArrayBuffer(2);
        if (!sizeOnly) {
          let retView = new Uint8Array(retBuf);
          retView[0] = 5, retView[1] = 0;
        }
        return writer && writer.write(retBuf), retBuf;
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME}`;
      }
    };
    _a$t = Null;
    typeStore.Null = _a$t;
    Null.NAME = "NULL";
    var LocalBooleanValueBlock = class extends HexBlock(ValueBlock) {
      get value() {
        for (let octet of this.valueHexView)
          if (octet > 0)
            return !0;
        return !1;
      }
      set value(value) {
        this.valueHexView[0] = value ? 255 : 0;
      }
      constructor({ value, ...parameters } = {}) {
        super(parameters), parameters.valueHex ? this.valueHexView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(parameters.valueHex) : this.valueHexView = new Uint8Array(1), value && (this.value = value);
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let inputView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        return checkBufferParams(this, inputView, inputOffset, inputLength) ? (this.valueHexView = inputView.subarray(inputOffset, inputOffset + inputLength), inputLength > 1 && this.warnings.push("Boolean value encoded in more then 1 octet"), this.isHexOnly = !0, pvutils__namespace.utilDecodeTC.call(this), this.blockLength = inputLength, inputOffset + inputLength) : -1;
      }
      toBER() {
        return this.valueHexView.slice().buffer;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          value: this.value
        };
      }
    };
    LocalBooleanValueBlock.NAME = "BooleanValueBlock";
    var _a$s, Boolean2 = class extends BaseBlock {
      getValue() {
        return this.valueBlock.value;
      }
      setValue(value) {
        this.valueBlock.value = value;
      }
      constructor(parameters = {}) {
        super(parameters, LocalBooleanValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 1;
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME} : ${this.getValue}`;
      }
    };
    _a$s = Boolean2;
    typeStore.Boolean = _a$s;
    Boolean2.NAME = "BOOLEAN";
    var LocalOctetStringValueBlock = class extends HexBlock(LocalConstructedValueBlock) {
      constructor({ isConstructed: isConstructed2 = !1, ...parameters } = {}) {
        super(parameters), this.isConstructed = isConstructed2;
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        let resultOffset = 0;
        if (this.isConstructed) {
          if (this.isHexOnly = !1, resultOffset = LocalConstructedValueBlock.prototype.fromBER.call(this, inputBuffer, inputOffset, inputLength, context), resultOffset === -1)
            return resultOffset;
          for (let i = 0; i < this.value.length; i++) {
            let currentBlockName = this.value[i].constructor.NAME;
            if (currentBlockName === END_OF_CONTENT_NAME) {
              if (this.isIndefiniteForm)
                break;
              return this.error = "EndOfContent is unexpected, OCTET STRING may consists of OCTET STRINGs only", -1;
            }
            if (currentBlockName !== OCTET_STRING_NAME)
              return this.error = "OCTET STRING may consists of OCTET STRINGs only", -1;
          }
        } else
          this.isHexOnly = !0, resultOffset = super.fromBER(inputBuffer, inputOffset, inputLength), this.blockLength = inputLength;
        return resultOffset;
      }
      toBER(sizeOnly, writer) {
        return this.isConstructed ? LocalConstructedValueBlock.prototype.toBER.call(this, sizeOnly, writer) : sizeOnly ? new ArrayBuffer(this.valueHexView.byteLength) : this.valueHexView.slice().buffer;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          isConstructed: this.isConstructed
        };
      }
    };
    LocalOctetStringValueBlock.NAME = "OctetStringValueBlock";
    var ORIGINAL_LOCAL_OCTET_STRING_TO_BER = LocalOctetStringValueBlock.prototype.toBER, _a$r, OctetString2 = class extends BaseBlock {
      constructor({ idBlock = {}, lenBlock = {}, ...parameters } = {}) {
        var _b2, _c2;
        (_b2 = parameters.isConstructed) !== null && _b2 !== void 0 || (parameters.isConstructed = !!(!((_c2 = parameters.value) === null || _c2 === void 0) && _c2.length)), super({
          idBlock: {
            isConstructed: parameters.isConstructed,
            ...idBlock
          },
          lenBlock: {
            ...lenBlock,
            isIndefiniteForm: !!parameters.isIndefiniteForm
          },
          ...parameters
        }, LocalOctetStringValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 4;
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        if (this.valueBlock.isConstructed = this.idBlock.isConstructed, this.valueBlock.isIndefiniteForm = this.lenBlock.isIndefiniteForm, inputLength === 0)
          return this.idBlock.error.length === 0 && (this.blockLength += this.idBlock.blockLength), this.lenBlock.error.length === 0 && (this.blockLength += this.lenBlock.blockLength), inputOffset;
        if (!this.valueBlock.isConstructed && context?.parseEmbedded !== !1) {
          let buf = (inputBuffer instanceof ArrayBuffer ? new Uint8Array(inputBuffer) : inputBuffer).subarray(inputOffset, inputOffset + inputLength);
          try {
            if (buf.byteLength) {
              let parseContext = context ?? createFromBerContext(), asn = localFromBERWithChildContext(buf, 0, buf.byteLength, parseContext);
              asn.offset !== -1 && asn.offset === inputLength && (this.valueBlock.value = [asn.result]);
            }
          } catch {
          }
        }
        return super.fromBER(inputBuffer, inputOffset, inputLength, context);
      }
      onAsciiEncoding() {
        if (this.valueBlock.isConstructed || this.valueBlock.value && this.valueBlock.value.length)
          return Constructed.prototype.onAsciiEncoding.call(this);
        let name = this.constructor.NAME, value = pvtsutils__namespace.Convert.ToHex(this.valueBlock.valueHexView);
        return `${name} : ${value}`;
      }
      getValue() {
        if (!this.idBlock.isConstructed)
          return this.valueBlock.valueHexView.slice().buffer;
        let array = [];
        for (let content of this.valueBlock.value)
          content instanceof _a$r && array.push(content.valueBlock.valueHexView);
        return pvtsutils__namespace.BufferSourceConverter.concat(array);
      }
    };
    _a$r = OctetString2;
    typeStore.OctetString = _a$r;
    OctetString2.NAME = OCTET_STRING_NAME;
    var LocalBitStringValueBlock = class extends HexBlock(LocalConstructedValueBlock) {
      constructor({ unusedBits = 0, isConstructed: isConstructed2 = !1, ...parameters } = {}) {
        super(parameters), this.unusedBits = unusedBits, this.isConstructed = isConstructed2, this.blockLength = this.valueHexView.byteLength;
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        if (!inputLength)
          return inputOffset;
        let resultOffset = -1;
        if (this.isConstructed) {
          if (resultOffset = LocalConstructedValueBlock.prototype.fromBER.call(this, inputBuffer, inputOffset, inputLength, context), resultOffset === -1)
            return resultOffset;
          for (let value of this.value) {
            let currentBlockName = value.constructor.NAME;
            if (currentBlockName === END_OF_CONTENT_NAME) {
              if (this.isIndefiniteForm)
                break;
              return this.error = "EndOfContent is unexpected, BIT STRING may consists of BIT STRINGs only", -1;
            }
            if (currentBlockName !== BIT_STRING_NAME)
              return this.error = "BIT STRING may consists of BIT STRINGs only", -1;
            let valueBlock = value.valueBlock;
            if (this.unusedBits > 0 && valueBlock.unusedBits > 0)
              return this.error = 'Using of "unused bits" inside constructive BIT STRING allowed for least one only', -1;
            this.unusedBits = valueBlock.unusedBits;
          }
          return resultOffset;
        }
        let inputView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        if (!checkBufferParams(this, inputView, inputOffset, inputLength))
          return -1;
        let intBuffer = inputView.subarray(inputOffset, inputOffset + inputLength);
        if (this.unusedBits = intBuffer[0], this.unusedBits > 7)
          return this.error = "Unused bits for BitString must be in range 0-7", -1;
        if (!this.unusedBits && context?.parseEmbedded !== !1) {
          let buf = intBuffer.subarray(1);
          try {
            if (buf.byteLength) {
              let parseContext = context ?? createFromBerContext(), asn = localFromBERWithChildContext(buf, 0, buf.byteLength, parseContext);
              asn.offset !== -1 && asn.offset === inputLength - 1 && (this.value = [asn.result]);
            }
          } catch {
          }
        }
        return this.valueHexView = intBuffer.subarray(1), this.blockLength = intBuffer.length, inputOffset + inputLength;
      }
      toBER(sizeOnly, writer) {
        if (this.isConstructed)
          return LocalConstructedValueBlock.prototype.toBER.call(this, sizeOnly, writer);
        if (sizeOnly)
          return new ArrayBuffer(this.valueHexView.byteLength + 1);
        if (!this.valueHexView.byteLength) {
          let empty = new Uint8Array(1);
          return empty[0] = 0, empty.buffer;
        }
        let retView = new Uint8Array(this.valueHexView.length + 1);
        return retView[0] = this.unusedBits, retView.set(this.valueHexView, 1), retView.buffer;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          unusedBits: this.unusedBits,
          isConstructed: this.isConstructed
        };
      }
    };
    LocalBitStringValueBlock.NAME = "BitStringValueBlock";
    var ORIGINAL_LOCAL_BIT_STRING_TO_BER = LocalBitStringValueBlock.prototype.toBER, _a$q, BitString = class extends BaseBlock {
      constructor({ idBlock = {}, lenBlock = {}, ...parameters } = {}) {
        var _b2, _c2;
        (_b2 = parameters.isConstructed) !== null && _b2 !== void 0 || (parameters.isConstructed = !!(!((_c2 = parameters.value) === null || _c2 === void 0) && _c2.length)), super({
          idBlock: {
            isConstructed: parameters.isConstructed,
            ...idBlock
          },
          lenBlock: {
            ...lenBlock,
            isIndefiniteForm: !!parameters.isIndefiniteForm
          },
          ...parameters
        }, LocalBitStringValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 3;
      }
      fromBER(inputBuffer, inputOffset, inputLength, context) {
        return this.valueBlock.isConstructed = this.idBlock.isConstructed, this.valueBlock.isIndefiniteForm = this.lenBlock.isIndefiniteForm, super.fromBER(inputBuffer, inputOffset, inputLength, context);
      }
      onAsciiEncoding() {
        if (this.valueBlock.isConstructed || this.valueBlock.value && this.valueBlock.value.length)
          return Constructed.prototype.onAsciiEncoding.call(this);
        {
          let bits = [], valueHex = this.valueBlock.valueHexView;
          for (let byte of valueHex)
            bits.push(byte.toString(2).padStart(8, "0"));
          let bitsStr = bits.join(""), name = this.constructor.NAME, value = bitsStr.substring(0, bitsStr.length - this.valueBlock.unusedBits);
          return `${name} : ${value}`;
        }
      }
    };
    _a$q = BitString;
    typeStore.BitString = _a$q;
    BitString.NAME = BIT_STRING_NAME;
    function bytesToSignedBigInt(view) {
      if (!view.byteLength)
        return BigInt(0);
      let value = BigInt(`0x${pvtsutils__namespace.Convert.ToHex(view)}`);
      return view[0] & 128 ? value - (BigInt(1) << BigInt(view.byteLength * 8)) : value;
    }
    function bytesToSignedDecimal(view) {
      if (typeof BigInt < "u")
        return bytesToSignedBigInt(view).toString(10);
      let BASE = 1e7, DECIMAL_DIGITS = 7;
      if (!view.byteLength)
        return "0";
      let negative = !!(view[0] & 128), magnitude = view;
      if (negative) {
        magnitude = new Uint8Array(view.length);
        let carry = 1;
        for (let i = view.length - 1; i >= 0; i--) {
          let value = (view[i] ^ 255) + carry;
          magnitude[i] = value & 255, carry = value >> 8;
        }
      }
      let limbs = [0];
      for (let index = 0; index < magnitude.length; index++) {
        let carry = magnitude[index];
        for (let i = 0; i < limbs.length; i++) {
          let value = limbs[i] * 256 + carry;
          limbs[i] = value % BASE, carry = Math.floor(value / BASE);
        }
        carry && limbs.push(carry);
      }
      let top = limbs.length - 1;
      for (; top > 0 && limbs[top] === 0; )
        top--;
      let result = String(limbs[top]);
      for (let i = top - 1; i >= 0; i--)
        result += String(limbs[i]).padStart(DECIMAL_DIGITS, "0");
      return negative && result !== "0" ? `-${result}` : result;
    }
    var _a$p, LocalIntegerValueBlock = class extends HexBlock(ValueBlock) {
      setValueHex() {
        this.valueHexView.length >= 4 ? (this.warnings.push("Too big Integer for decoding, hex only"), this.isHexOnly = !0, this._valueDec = 0) : (this.isHexOnly = !1, this.valueHexView.length > 0 && (this._valueDec = pvutils__namespace.utilDecodeTC.call(this)));
      }
      constructor({ value, ...parameters } = {}) {
        super(parameters), this._valueDec = 0, parameters.valueHex && this.setValueHex(), value !== void 0 && (this.valueDec = value);
      }
      set valueDec(v) {
        this._valueDec = v, this.isHexOnly = !1, this.valueHexView = new Uint8Array(pvutils__namespace.utilEncodeTC(v));
      }
      get valueDec() {
        return this._valueDec;
      }
      fromDER(inputBuffer, inputOffset, inputLength, expectedLength = 0) {
        let offset = this.fromBER(inputBuffer, inputOffset, inputLength);
        if (offset === -1)
          return offset;
        let view = this.valueHexView;
        return view[0] === 0 && (view[1] & 128) !== 0 ? this.valueHexView = view.subarray(1) : expectedLength !== 0 && view.length < expectedLength && (expectedLength - view.length > 1 && (expectedLength = view.length + 1), this.valueHexView = view.subarray(expectedLength - view.length)), offset;
      }
      toDER(sizeOnly = !1) {
        let view = this.valueHexView;
        switch (!0) {
          case (view[0] & 128) !== 0:
            {
              let updatedView = new Uint8Array(this.valueHexView.length + 1);
              updatedView[0] = 0, updatedView.set(view, 1), this.valueHexView = updatedView;
            }
            break;
          case (view[0] === 0 && (view[1] & 128) === 0):
            this.valueHexView = this.valueHexView.subarray(1);
            break;
        }
        return this.toBER(sizeOnly);
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let resultOffset = super.fromBER(inputBuffer, inputOffset, inputLength);
        return resultOffset === -1 || this.setValueHex(), resultOffset;
      }
      toBER(sizeOnly) {
        return sizeOnly ? new ArrayBuffer(this.valueHexView.length) : this.valueHexView.slice().buffer;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          valueDec: this.valueDec
        };
      }
      toString() {
        return bytesToSignedDecimal(this.valueHexView);
      }
    };
    _a$p = LocalIntegerValueBlock;
    LocalIntegerValueBlock.NAME = "IntegerValueBlock";
    Object.defineProperty(_a$p.prototype, "valueHex", {
      set: function(v) {
        this.valueHexView = new Uint8Array(v), this.setValueHex();
      },
      get: function() {
        return this.valueHexView.slice().buffer;
      }
    });
    var ORIGINAL_LOCAL_INTEGER_TO_BER = LocalIntegerValueBlock.prototype.toBER, ORIGINAL_LOCAL_INTEGER_TO_STRING = LocalIntegerValueBlock.prototype.toString, _a$o, Integer = class extends BaseBlock {
      constructor(parameters = {}) {
        super(parameters, LocalIntegerValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 2;
      }
      toBigInt() {
        assertBigInt();
        let valueBlock = this.valueBlock, toString = valueBlock.toString;
        return toString === ORIGINAL_LOCAL_INTEGER_TO_STRING ? bytesToSignedBigInt(valueBlock.valueHexView) : BigInt(Reflect.apply(toString, valueBlock, []));
      }
      static fromBigInt(value) {
        assertBigInt();
        let bigIntValue = BigInt(value), writer = new ViewWriter(), hex = bigIntValue.toString(16).replace(/^-/, ""), view = new Uint8Array(pvtsutils__namespace.Convert.FromHex(hex));
        if (bigIntValue < 0) {
          let first = new Uint8Array(view.length + (view[0] & 128 ? 1 : 0));
          first[0] |= 128;
          let secondInt = BigInt(`0x${pvtsutils__namespace.Convert.ToHex(first)}`) + bigIntValue, second = pvtsutils__namespace.BufferSourceConverter.toUint8Array(pvtsutils__namespace.Convert.FromHex(secondInt.toString(16)));
          second[0] |= 128, writer.write(second);
        } else
          view[0] & 128 && writer.write(new Uint8Array([0])), writer.write(view);
        return new _a$o({ valueHex: writer.final() });
      }
      convertToDER() {
        let integer = new _a$o({ valueHex: this.valueBlock.valueHexView });
        return integer.valueBlock.toDER(), integer;
      }
      convertFromDER() {
        return new _a$o({
          valueHex: this.valueBlock.valueHexView[0] === 0 ? this.valueBlock.valueHexView.subarray(1) : this.valueBlock.valueHexView
        });
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME} : ${this.valueBlock.toString()}`;
      }
    };
    _a$o = Integer;
    typeStore.Integer = _a$o;
    Integer.NAME = "INTEGER";
    var _a$n, Enumerated = class extends Integer {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 10;
      }
    };
    _a$n = Enumerated;
    typeStore.Enumerated = _a$n;
    Enumerated.NAME = "ENUMERATED";
    var LocalSidValueBlock = class extends HexBlock(ValueBlock) {
      constructor({ valueDec = -1, isFirstSid = !1, ...parameters } = {}) {
        super(parameters), this.valueDec = valueDec, this.isFirstSid = isFirstSid;
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        if (!inputLength)
          return inputOffset;
        let inputView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        if (!checkBufferParams(this, inputView, inputOffset, inputLength))
          return -1;
        let intBuffer = inputView.subarray(inputOffset, inputOffset + inputLength);
        if (this.blockLength === 0 && Number.isInteger(inputOffset) && Number.isInteger(inputLength)) {
          let sidLength = 0;
          for (; sidLength < inputLength; ) {
            let octet = intBuffer[sidLength];
            if (sidLength++, (octet & 128) === 0)
              break;
          }
          this.blockLength = sidLength, this.valueHexView = new Uint8Array(sidLength);
          for (let i = 0; i < sidLength; i++)
            this.valueHexView[i] = intBuffer[i] & 127;
        } else {
          this.valueHexView = new Uint8Array(inputLength);
          for (let i = 0; i < inputLength && (this.valueHexView[i] = intBuffer[i] & 127, this.blockLength++, (intBuffer[i] & 128) !== 0); i++)
            ;
          let tempView = new Uint8Array(this.blockLength);
          for (let i = 0; i < this.blockLength; i++)
            tempView[i] = this.valueHexView[i];
          this.valueHexView = tempView;
        }
        return (intBuffer[this.blockLength - 1] & 128) !== 0 ? (this.error = "End of input reached before message was fully decoded", -1) : (this.valueHexView[0] === 0 && this.warnings.push("Needlessly long format of SID encoding"), this.blockLength <= 8 ? this.valueDec = pvutils__namespace.utilFromBase(this.valueHexView, 7) : (this.isHexOnly = !0, this.warnings.push("Too big SID for decoding, hex only")), inputOffset + this.blockLength);
      }
      set valueBigInt(value) {
        assertBigInt();
        let bits = BigInt(value).toString(2);
        for (; bits.length % 7; )
          bits = "0" + bits;
        let bytes = new Uint8Array(bits.length / 7);
        for (let i = 0; i < bytes.length; i++)
          bytes[i] = parseInt(bits.slice(i * 7, i * 7 + 7), 2) + (i + 1 < bytes.length ? 128 : 0);
        this.fromBER(bytes.buffer, 0, bytes.length);
      }
      toBER(sizeOnly) {
        if (this.isHexOnly) {
          if (sizeOnly)
            return new ArrayBuffer(this.valueHexView.byteLength);
          let curView = this.valueHexView, retView2 = new Uint8Array(this.blockLength);
          for (let i = 0; i < this.blockLength - 1; i++)
            retView2[i] = curView[i] | 128;
          return retView2[this.blockLength - 1] = curView[this.blockLength - 1], pvtsutils__namespace.BufferSourceConverter.toArrayBuffer(retView2);
        }
        let encodedBuf = pvutils__namespace.utilToBase(this.valueDec, 7);
        if (encodedBuf.byteLength === 0)
          return this.error = "Error during encoding SID value", EMPTY_BUFFER;
        let retView = new Uint8Array(encodedBuf.byteLength);
        if (!sizeOnly) {
          let encodedView = new Uint8Array(encodedBuf), len = encodedBuf.byteLength - 1;
          for (let i = 0; i < len; i++)
            retView[i] = encodedView[i] | 128;
          retView[len] = encodedView[len];
        }
        return pvtsutils__namespace.BufferSourceConverter.toArrayBuffer(retView);
      }
      toString() {
        let result = "";
        if (this.isHexOnly)
          result = pvtsutils__namespace.Convert.ToHex(this.valueHexView);
        else if (this.isFirstSid) {
          let sidValue = this.valueDec;
          this.valueDec <= 39 ? result = "0." : this.valueDec <= 79 ? (result = "1.", sidValue -= 40) : (result = "2.", sidValue -= 80), result += sidValue.toString();
        } else
          result = this.valueDec.toString();
        return result;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          valueDec: this.valueDec,
          isFirstSid: this.isFirstSid
        };
      }
    };
    LocalSidValueBlock.NAME = "sidBlock";
    var LocalObjectIdentifierValueBlock = class extends ValueBlock {
      constructor({ value = EMPTY_STRING, ...parameters } = {}) {
        super(parameters), this.value = [], value && this.fromString(value);
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let resultOffset = inputOffset;
        for (; inputLength > 0; ) {
          let sidBlock = new LocalSidValueBlock();
          if (resultOffset = sidBlock.fromBER(inputBuffer, resultOffset, inputLength), resultOffset === -1)
            return this.blockLength = 0, this.error = sidBlock.error, resultOffset;
          this.value.length === 0 && (sidBlock.isFirstSid = !0), this.blockLength += sidBlock.blockLength, inputLength -= sidBlock.blockLength, this.value.push(sidBlock);
        }
        return resultOffset;
      }
      toBER(sizeOnly) {
        let retBuffers = [];
        for (let i = 0; i < this.value.length; i++) {
          let valueBuf = this.value[i].toBER(sizeOnly);
          if (valueBuf.byteLength === 0)
            return this.error = this.value[i].error, EMPTY_BUFFER;
          retBuffers.push(valueBuf);
        }
        return concat(retBuffers);
      }
      fromString(string) {
        this.value = [];
        let pos1 = 0, pos2 = 0, sid = "", flag = !1;
        do
          if (pos2 = string.indexOf(".", pos1), pos2 === -1 ? sid = string.substring(pos1) : sid = string.substring(pos1, pos2), pos1 = pos2 + 1, flag) {
            let sidBlock = this.value[0], plus = 0;
            switch (sidBlock.valueDec) {
              case 0:
                break;
              case 1:
                plus = 40;
                break;
              case 2:
                plus = 80;
                break;
              default:
                this.value = [];
                return;
            }
            let parsedSID = parseInt(sid, 10);
            if (isNaN(parsedSID))
              return;
            sidBlock.valueDec = parsedSID + plus, flag = !1;
          } else {
            let sidBlock = new LocalSidValueBlock();
            if (sid > Number.MAX_SAFE_INTEGER) {
              assertBigInt();
              let sidValue = BigInt(sid);
              sidBlock.valueBigInt = sidValue;
            } else if (sidBlock.valueDec = parseInt(sid, 10), isNaN(sidBlock.valueDec))
              return;
            this.value.length || (sidBlock.isFirstSid = !0, flag = !0), this.value.push(sidBlock);
          }
        while (pos2 !== -1);
      }
      toString() {
        let result = "", isHexOnly = !1;
        for (let i = 0; i < this.value.length; i++) {
          isHexOnly = this.value[i].isHexOnly;
          let sidStr = this.value[i].toString();
          i !== 0 && (result = `${result}.`), isHexOnly ? (sidStr = `{${sidStr}}`, this.value[i].isFirstSid ? result = `2.{${sidStr} - 80}` : result += sidStr) : result += sidStr;
        }
        return result;
      }
      toJSON() {
        let object = {
          ...super.toJSON(),
          value: this.toString(),
          sidArray: []
        };
        for (let i = 0; i < this.value.length; i++)
          object.sidArray.push(this.value[i].toJSON());
        return object;
      }
    };
    LocalObjectIdentifierValueBlock.NAME = "ObjectIdentifierValueBlock";
    var _a$m, ObjectIdentifier = class extends BaseBlock {
      getValue() {
        return this.valueBlock.toString();
      }
      setValue(value) {
        this.valueBlock.fromString(value);
      }
      constructor(parameters = {}) {
        super(parameters, LocalObjectIdentifierValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 6;
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME} : ${this.valueBlock.toString() || "empty"}`;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          value: this.getValue()
        };
      }
    };
    _a$m = ObjectIdentifier;
    typeStore.ObjectIdentifier = _a$m;
    ObjectIdentifier.NAME = "OBJECT IDENTIFIER";
    var LocalRelativeSidValueBlock = class extends HexBlock(LocalBaseBlock) {
      constructor({ valueDec = 0, ...parameters } = {}) {
        super(parameters), this.valueDec = valueDec;
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        if (inputLength === 0)
          return inputOffset;
        let inputView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        if (!checkBufferParams(this, inputView, inputOffset, inputLength))
          return -1;
        let intBuffer = inputView.subarray(inputOffset, inputOffset + inputLength);
        if (this.blockLength === 0 && Number.isInteger(inputOffset) && Number.isInteger(inputLength)) {
          let sidLength = 0;
          for (; sidLength < inputLength; ) {
            let octet = intBuffer[sidLength];
            if (sidLength++, (octet & 128) === 0)
              break;
          }
          this.blockLength = sidLength, this.valueHexView = new Uint8Array(sidLength);
          for (let i = 0; i < sidLength; i++)
            this.valueHexView[i] = intBuffer[i] & 127;
        } else {
          this.valueHexView = new Uint8Array(inputLength);
          for (let i = 0; i < inputLength && (this.valueHexView[i] = intBuffer[i] & 127, this.blockLength++, (intBuffer[i] & 128) !== 0); i++)
            ;
          let tempView = new Uint8Array(this.blockLength);
          for (let i = 0; i < this.blockLength; i++)
            tempView[i] = this.valueHexView[i];
          this.valueHexView = tempView;
        }
        return (intBuffer[this.blockLength - 1] & 128) !== 0 ? (this.error = "End of input reached before message was fully decoded", -1) : (this.valueHexView[0] === 0 && this.warnings.push("Needlessly long format of SID encoding"), this.blockLength <= 8 ? this.valueDec = pvutils__namespace.utilFromBase(this.valueHexView, 7) : (this.isHexOnly = !0, this.warnings.push("Too big SID for decoding, hex only")), inputOffset + this.blockLength);
      }
      toBER(sizeOnly) {
        if (this.isHexOnly) {
          if (sizeOnly)
            return new ArrayBuffer(this.valueHexView.byteLength);
          let curView = this.valueHexView, retView2 = new Uint8Array(this.blockLength);
          for (let i = 0; i < this.blockLength - 1; i++)
            retView2[i] = curView[i] | 128;
          return retView2[this.blockLength - 1] = curView[this.blockLength - 1], retView2.buffer;
        }
        let encodedBuf = pvutils__namespace.utilToBase(this.valueDec, 7);
        if (encodedBuf.byteLength === 0)
          return this.error = "Error during encoding SID value", EMPTY_BUFFER;
        let retView = new Uint8Array(encodedBuf.byteLength);
        if (!sizeOnly) {
          let encodedView = new Uint8Array(encodedBuf), len = encodedBuf.byteLength - 1;
          for (let i = 0; i < len; i++)
            retView[i] = encodedView[i] | 128;
          retView[len] = encodedView[len];
        }
        return retView.buffer;
      }
      toString() {
        let result = "";
        return this.isHexOnly ? result = pvtsutils__namespace.Convert.ToHex(this.valueHexView) : result = this.valueDec.toString(), result;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          valueDec: this.valueDec
        };
      }
    };
    LocalRelativeSidValueBlock.NAME = "relativeSidBlock";
    var LocalRelativeObjectIdentifierValueBlock = class extends ValueBlock {
      constructor({ value = EMPTY_STRING, ...parameters } = {}) {
        super(parameters), this.value = [], value && this.fromString(value);
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let resultOffset = inputOffset;
        for (; inputLength > 0; ) {
          let sidBlock = new LocalRelativeSidValueBlock();
          if (resultOffset = sidBlock.fromBER(inputBuffer, resultOffset, inputLength), resultOffset === -1)
            return this.blockLength = 0, this.error = sidBlock.error, resultOffset;
          this.blockLength += sidBlock.blockLength, inputLength -= sidBlock.blockLength, this.value.push(sidBlock);
        }
        return resultOffset;
      }
      toBER(sizeOnly, _writer) {
        let retBuffers = [];
        for (let i = 0; i < this.value.length; i++) {
          let valueBuf = this.value[i].toBER(sizeOnly);
          if (valueBuf.byteLength === 0)
            return this.error = this.value[i].error, EMPTY_BUFFER;
          retBuffers.push(valueBuf);
        }
        return concat(retBuffers);
      }
      fromString(string) {
        this.value = [];
        let pos1 = 0, pos2 = 0, sid = "";
        do {
          pos2 = string.indexOf(".", pos1), pos2 === -1 ? sid = string.substring(pos1) : sid = string.substring(pos1, pos2), pos1 = pos2 + 1;
          let sidBlock = new LocalRelativeSidValueBlock();
          if (sidBlock.valueDec = parseInt(sid, 10), isNaN(sidBlock.valueDec))
            return !0;
          this.value.push(sidBlock);
        } while (pos2 !== -1);
        return !0;
      }
      toString() {
        let result = "", isHexOnly = !1;
        for (let i = 0; i < this.value.length; i++) {
          isHexOnly = this.value[i].isHexOnly;
          let sidStr = this.value[i].toString();
          i !== 0 && (result = `${result}.`), isHexOnly && (sidStr = `{${sidStr}}`), result += sidStr;
        }
        return result;
      }
      toJSON() {
        let object = {
          ...super.toJSON(),
          value: this.toString(),
          sidArray: []
        };
        for (let i = 0; i < this.value.length; i++)
          object.sidArray.push(this.value[i].toJSON());
        return object;
      }
    };
    LocalRelativeObjectIdentifierValueBlock.NAME = "RelativeObjectIdentifierValueBlock";
    var _a$l, RelativeObjectIdentifier = class extends BaseBlock {
      getValue() {
        return this.valueBlock.toString();
      }
      setValue(value) {
        this.valueBlock.fromString(value);
      }
      constructor(parameters = {}) {
        super(parameters, LocalRelativeObjectIdentifierValueBlock), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 13;
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME} : ${this.valueBlock.toString() || "empty"}`;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          value: this.getValue()
        };
      }
    };
    _a$l = RelativeObjectIdentifier;
    typeStore.RelativeObjectIdentifier = _a$l;
    RelativeObjectIdentifier.NAME = "RelativeObjectIdentifier";
    var _a$k, Sequence = class extends Constructed {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 16;
      }
    };
    _a$k = Sequence;
    typeStore.Sequence = _a$k;
    Sequence.NAME = "SEQUENCE";
    var _a$j, Set2 = class extends Constructed {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 17;
      }
    };
    _a$j = Set2;
    typeStore.Set = _a$j;
    Set2.NAME = "SET";
    var LocalStringValueBlock = class extends HexBlock(ValueBlock) {
      constructor({ ...parameters } = {}) {
        super(parameters), this.isHexOnly = !0, this.value = EMPTY_STRING;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          value: this.value
        };
      }
    };
    LocalStringValueBlock.NAME = "StringValueBlock";
    var LocalSimpleStringValueBlock = class extends LocalStringValueBlock {
    };
    LocalSimpleStringValueBlock.NAME = "SimpleStringValueBlock";
    var LocalSimpleStringBlock = class extends BaseStringBlock {
      constructor({ ...parameters } = {}) {
        super(parameters, LocalSimpleStringValueBlock);
      }
      fromBuffer(inputBuffer) {
        this.valueBlock.value = String.fromCharCode.apply(null, pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer));
      }
      fromString(inputString) {
        let strLen = inputString.length, view = this.valueBlock.valueHexView = new Uint8Array(strLen);
        for (let i = 0; i < strLen; i++)
          view[i] = inputString.charCodeAt(i);
        this.valueBlock.value = inputString;
      }
    };
    LocalSimpleStringBlock.NAME = "SIMPLE STRING";
    var LocalUtf8StringValueBlock = class extends LocalSimpleStringBlock {
      fromBuffer(inputBuffer) {
        this.valueBlock.valueHexView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
        try {
          this.valueBlock.value = pvtsutils__namespace.Convert.ToUtf8String(inputBuffer);
        } catch (ex) {
          this.warnings.push(`Error during "decodeURIComponent": ${ex}, using raw string`), this.valueBlock.value = pvtsutils__namespace.Convert.ToBinary(inputBuffer);
        }
      }
      fromString(inputString) {
        this.valueBlock.valueHexView = new Uint8Array(pvtsutils__namespace.Convert.FromUtf8String(inputString)), this.valueBlock.value = inputString;
      }
    };
    LocalUtf8StringValueBlock.NAME = "Utf8StringValueBlock";
    var _a$i, Utf8String = class extends LocalUtf8StringValueBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 12;
      }
    };
    _a$i = Utf8String;
    typeStore.Utf8String = _a$i;
    Utf8String.NAME = "UTF8String";
    var LocalBmpStringValueBlock = class extends LocalSimpleStringBlock {
      fromBuffer(inputBuffer) {
        this.valueBlock.value = pvtsutils__namespace.Convert.ToUtf16String(inputBuffer), this.valueBlock.valueHexView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer);
      }
      fromString(inputString) {
        this.valueBlock.value = inputString, this.valueBlock.valueHexView = new Uint8Array(pvtsutils__namespace.Convert.FromUtf16String(inputString));
      }
    };
    LocalBmpStringValueBlock.NAME = "BmpStringValueBlock";
    var _a$h, BmpString = class extends LocalBmpStringValueBlock {
      constructor({ ...parameters } = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 30;
      }
    };
    _a$h = BmpString;
    typeStore.BmpString = _a$h;
    BmpString.NAME = "BMPString";
    var LocalUniversalStringValueBlock = class extends LocalSimpleStringBlock {
      fromBuffer(inputBuffer) {
        let copyBuffer = ArrayBuffer.isView(inputBuffer) ? inputBuffer.slice().buffer : inputBuffer.slice(0), valueView = new Uint8Array(copyBuffer);
        for (let i = 0; i < valueView.length; i += 4)
          valueView[i] = valueView[i + 3], valueView[i + 1] = valueView[i + 2], valueView[i + 2] = 0, valueView[i + 3] = 0;
        this.valueBlock.value = String.fromCharCode.apply(null, new Uint32Array(copyBuffer));
      }
      fromString(inputString) {
        let strLength = inputString.length, valueHexView = this.valueBlock.valueHexView = new Uint8Array(strLength * 4);
        for (let i = 0; i < strLength; i++) {
          let codeBuf = pvutils__namespace.utilToBase(inputString.charCodeAt(i), 8), codeView = new Uint8Array(codeBuf);
          if (codeView.length > 4)
            continue;
          let dif = 4 - codeView.length;
          for (let j = codeView.length - 1; j >= 0; j--)
            valueHexView[i * 4 + j + dif] = codeView[j];
        }
        this.valueBlock.value = inputString;
      }
    };
    LocalUniversalStringValueBlock.NAME = "UniversalStringValueBlock";
    var _a$g, UniversalString = class extends LocalUniversalStringValueBlock {
      constructor({ ...parameters } = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 28;
      }
    };
    _a$g = UniversalString;
    typeStore.UniversalString = _a$g;
    UniversalString.NAME = "UniversalString";
    var _a$f, NumericString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 18;
      }
    };
    _a$f = NumericString;
    typeStore.NumericString = _a$f;
    NumericString.NAME = "NumericString";
    var _a$e, PrintableString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 19;
      }
    };
    _a$e = PrintableString;
    typeStore.PrintableString = _a$e;
    PrintableString.NAME = "PrintableString";
    var _a$d, TeletexString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 20;
      }
    };
    _a$d = TeletexString;
    typeStore.TeletexString = _a$d;
    TeletexString.NAME = "TeletexString";
    var _a$c, VideotexString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 21;
      }
    };
    _a$c = VideotexString;
    typeStore.VideotexString = _a$c;
    VideotexString.NAME = "VideotexString";
    var _a$b, IA5String = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 22;
      }
    };
    _a$b = IA5String;
    typeStore.IA5String = _a$b;
    IA5String.NAME = "IA5String";
    var _a$a, GraphicString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 25;
      }
    };
    _a$a = GraphicString;
    typeStore.GraphicString = _a$a;
    GraphicString.NAME = "GraphicString";
    var _a$9, VisibleString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 26;
      }
    };
    _a$9 = VisibleString;
    typeStore.VisibleString = _a$9;
    VisibleString.NAME = "VisibleString";
    var _a$8, GeneralString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 27;
      }
    };
    _a$8 = GeneralString;
    typeStore.GeneralString = _a$8;
    GeneralString.NAME = "GeneralString";
    var _a$7, CharacterString = class extends LocalSimpleStringBlock {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 29;
      }
    };
    _a$7 = CharacterString;
    typeStore.CharacterString = _a$7;
    CharacterString.NAME = "CharacterString";
    var _a$6, UTCTime = class extends VisibleString {
      constructor({ value, valueDate, ...parameters } = {}) {
        if (super(parameters), this.year = 0, this.month = 0, this.day = 0, this.hour = 0, this.minute = 0, this.second = 0, value) {
          this.fromString(value), this.valueBlock.valueHexView = new Uint8Array(value.length);
          for (let i = 0; i < value.length; i++)
            this.valueBlock.valueHexView[i] = value.charCodeAt(i);
        }
        valueDate && (this.fromDate(valueDate), this.valueBlock.valueHexView = new Uint8Array(this.toBuffer())), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 23;
      }
      fromBuffer(inputBuffer) {
        this.fromString(String.fromCharCode.apply(null, pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer)));
      }
      toBuffer() {
        let str = this.toString(), buffer = new ArrayBuffer(str.length), view = new Uint8Array(buffer);
        for (let i = 0; i < str.length; i++)
          view[i] = str.charCodeAt(i);
        return buffer;
      }
      fromDate(inputDate) {
        this.year = inputDate.getUTCFullYear(), this.month = inputDate.getUTCMonth() + 1, this.day = inputDate.getUTCDate(), this.hour = inputDate.getUTCHours(), this.minute = inputDate.getUTCMinutes(), this.second = inputDate.getUTCSeconds();
      }
      toDate() {
        return new Date(Date.UTC(this.year, this.month - 1, this.day, this.hour, this.minute, this.second));
      }
      fromString(inputString) {
        let parserArray = /(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z/gi.exec(inputString);
        if (parserArray === null) {
          this.error = "Wrong input string for conversion";
          return;
        }
        let year = parseInt(parserArray[1], 10);
        year >= 50 ? this.year = 1900 + year : this.year = 2e3 + year, this.month = parseInt(parserArray[2], 10), this.day = parseInt(parserArray[3], 10), this.hour = parseInt(parserArray[4], 10), this.minute = parseInt(parserArray[5], 10), this.second = parseInt(parserArray[6], 10);
      }
      toString(encoding = "iso") {
        if (encoding === "iso") {
          let outputArray = Array.from({ length: 7 });
          return outputArray[0] = pvutils__namespace.padNumber(this.year < 2e3 ? this.year - 1900 : this.year - 2e3, 2), outputArray[1] = pvutils__namespace.padNumber(this.month, 2), outputArray[2] = pvutils__namespace.padNumber(this.day, 2), outputArray[3] = pvutils__namespace.padNumber(this.hour, 2), outputArray[4] = pvutils__namespace.padNumber(this.minute, 2), outputArray[5] = pvutils__namespace.padNumber(this.second, 2), outputArray[6] = "Z", outputArray.join("");
        }
        return super.toString(encoding);
      }
      onAsciiEncoding() {
        return `${this.constructor.NAME} : ${this.toDate().toISOString()}`;
      }
      toJSON() {
        return {
          ...super.toJSON(),
          year: this.year,
          month: this.month,
          day: this.day,
          hour: this.hour,
          minute: this.minute,
          second: this.second
        };
      }
    };
    _a$6 = UTCTime;
    typeStore.UTCTime = _a$6;
    UTCTime.NAME = "UTCTime";
    var _a$5, GeneralizedTime = class extends UTCTime {
      constructor(parameters = {}) {
        var _b2;
        super(parameters), (_b2 = this.millisecond) !== null && _b2 !== void 0 || (this.millisecond = 0), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 24;
      }
      fromDate(inputDate) {
        super.fromDate(inputDate), this.millisecond = inputDate.getUTCMilliseconds();
      }
      toDate() {
        let utcDate = Date.UTC(this.year, this.month - 1, this.day, this.hour, this.minute, this.second, this.millisecond);
        return new Date(utcDate);
      }
      fromString(inputString) {
        let isUTC = !1, timeString = "", dateTimeString = "", fractionPart = 0, parser, hourDifference = 0, minuteDifference = 0;
        if (inputString[inputString.length - 1] === "Z")
          timeString = inputString.substring(0, inputString.length - 1), isUTC = !0;
        else {
          let number = new Number(inputString[inputString.length - 1]);
          if (isNaN(number.valueOf()))
            throw new Error("Wrong input string for conversion");
          timeString = inputString;
        }
        if (isUTC) {
          if (timeString.indexOf("+") !== -1)
            throw new Error("Wrong input string for conversion");
          if (timeString.indexOf("-") !== -1)
            throw new Error("Wrong input string for conversion");
        } else {
          let multiplier = 1, differencePosition = timeString.indexOf("+"), differenceString = "";
          if (differencePosition === -1 && (differencePosition = timeString.indexOf("-"), multiplier = -1), differencePosition !== -1) {
            if (differenceString = timeString.substring(differencePosition + 1), timeString = timeString.substring(0, differencePosition), differenceString.length !== 2 && differenceString.length !== 4)
              throw new Error("Wrong input string for conversion");
            let number = parseInt(differenceString.substring(0, 2), 10);
            if (isNaN(number.valueOf()))
              throw new Error("Wrong input string for conversion");
            if (hourDifference = multiplier * number, differenceString.length === 4) {
              if (number = parseInt(differenceString.substring(2, 4), 10), isNaN(number.valueOf()))
                throw new Error("Wrong input string for conversion");
              minuteDifference = multiplier * number;
            }
          }
        }
        let fractionPointPosition = timeString.indexOf(".");
        if (fractionPointPosition === -1 && (fractionPointPosition = timeString.indexOf(",")), fractionPointPosition !== -1) {
          let fractionPartCheck = new Number(`0${timeString.substring(fractionPointPosition)}`);
          if (isNaN(fractionPartCheck.valueOf()))
            throw new Error("Wrong input string for conversion");
          fractionPart = fractionPartCheck.valueOf(), dateTimeString = timeString.substring(0, fractionPointPosition);
        } else
          dateTimeString = timeString;
        switch (!0) {
          case dateTimeString.length === 8:
            if (parser = /(\d{4})(\d{2})(\d{2})/gi, fractionPointPosition !== -1)
              throw new Error("Wrong input string for conversion");
            break;
          case dateTimeString.length === 10:
            if (parser = /(\d{4})(\d{2})(\d{2})(\d{2})/gi, fractionPointPosition !== -1) {
              let fractionResult = 60 * fractionPart;
              this.minute = Math.floor(fractionResult), fractionResult = 60 * (fractionResult - this.minute), this.second = Math.floor(fractionResult), fractionResult = 1e3 * (fractionResult - this.second), this.millisecond = Math.floor(fractionResult);
            }
            break;
          case dateTimeString.length === 12:
            if (parser = /(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})/gi, fractionPointPosition !== -1) {
              let fractionResult = 60 * fractionPart;
              this.second = Math.floor(fractionResult), fractionResult = 1e3 * (fractionResult - this.second), this.millisecond = Math.floor(fractionResult);
            }
            break;
          case dateTimeString.length === 14:
            if (parser = /(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})/gi, fractionPointPosition !== -1) {
              let fractionResult = 1e3 * fractionPart;
              this.millisecond = Math.floor(fractionResult);
            }
            break;
          default:
            throw new Error("Wrong input string for conversion");
        }
        let parserArray = parser.exec(dateTimeString);
        if (parserArray === null)
          throw new Error("Wrong input string for conversion");
        for (let j = 1; j < parserArray.length; j++)
          switch (j) {
            case 1:
              this.year = parseInt(parserArray[j], 10);
              break;
            case 2:
              this.month = parseInt(parserArray[j], 10);
              break;
            case 3:
              this.day = parseInt(parserArray[j], 10);
              break;
            case 4:
              this.hour = parseInt(parserArray[j], 10) + hourDifference;
              break;
            case 5:
              this.minute = parseInt(parserArray[j], 10) + minuteDifference;
              break;
            case 6:
              this.second = parseInt(parserArray[j], 10);
              break;
            default:
              throw new Error("Wrong input string for conversion");
          }
        if (isUTC === !1) {
          let tempDate = new Date(this.year, this.month, this.day, this.hour, this.minute, this.second, this.millisecond);
          this.year = tempDate.getUTCFullYear(), this.month = tempDate.getUTCMonth(), this.day = tempDate.getUTCDay(), this.hour = tempDate.getUTCHours(), this.minute = tempDate.getUTCMinutes(), this.second = tempDate.getUTCSeconds(), this.millisecond = tempDate.getUTCMilliseconds();
        }
      }
      toString(encoding = "iso") {
        if (encoding === "iso") {
          let outputArray = [];
          return outputArray.push(pvutils__namespace.padNumber(this.year, 4)), outputArray.push(pvutils__namespace.padNumber(this.month, 2)), outputArray.push(pvutils__namespace.padNumber(this.day, 2)), outputArray.push(pvutils__namespace.padNumber(this.hour, 2)), outputArray.push(pvutils__namespace.padNumber(this.minute, 2)), outputArray.push(pvutils__namespace.padNumber(this.second, 2)), this.millisecond !== 0 && (outputArray.push("."), outputArray.push(pvutils__namespace.padNumber(this.millisecond, 3).replace(/0+$/, ""))), outputArray.push("Z"), outputArray.join("");
        }
        return super.toString(encoding);
      }
      toJSON() {
        return {
          ...super.toJSON(),
          millisecond: this.millisecond
        };
      }
    };
    _a$5 = GeneralizedTime;
    typeStore.GeneralizedTime = _a$5;
    GeneralizedTime.NAME = "GeneralizedTime";
    var _a$4, DATE = class extends Utf8String {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 31;
      }
    };
    _a$4 = DATE;
    typeStore.DATE = _a$4;
    DATE.NAME = "DATE";
    var _a$3, TimeOfDay = class extends Utf8String {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 32;
      }
    };
    _a$3 = TimeOfDay;
    typeStore.TimeOfDay = _a$3;
    TimeOfDay.NAME = "TimeOfDay";
    var _a$2, DateTime = class extends Utf8String {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 33;
      }
    };
    _a$2 = DateTime;
    typeStore.DateTime = _a$2;
    DateTime.NAME = "DateTime";
    var _a$1, Duration = class extends Utf8String {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 34;
      }
    };
    _a$1 = Duration;
    typeStore.Duration = _a$1;
    Duration.NAME = "Duration";
    var _a, TIME = class extends Utf8String {
      constructor(parameters = {}) {
        super(parameters), this.idBlock.tagClass = 1, this.idBlock.tagNumber = 14;
      }
    };
    _a = TIME;
    typeStore.TIME = _a;
    TIME.NAME = "TIME";
    var Any = class {
      constructor({ name = EMPTY_STRING, optional = !1 } = {}) {
        this.name = name, this.optional = optional;
      }
    }, Choice = class extends Any {
      constructor({ value = [], ...parameters } = {}) {
        super(parameters), this.value = value;
      }
    }, Repeated = class extends Any {
      constructor({ value = new Any(), local = !1, ...parameters } = {}) {
        super(parameters), this.value = value, this.local = local;
      }
    }, RawData = class {
      get data() {
        return this.dataView.slice().buffer;
      }
      set data(value) {
        this.dataView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(value);
      }
      constructor({ data = EMPTY_VIEW } = {}) {
        this.dataView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(data);
      }
      fromBER(inputBuffer, inputOffset, inputLength) {
        let endLength = inputOffset + inputLength;
        return this.dataView = pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer).subarray(inputOffset, endLength), endLength;
      }
      toBER(_sizeOnly) {
        return this.dataView.slice().buffer;
      }
    };
    function compareSchema(root, inputData, inputSchema) {
      if (inputSchema instanceof Choice) {
        for (let element of inputSchema.value)
          if (compareSchema(root, inputData, element).verified)
            return {
              verified: !0,
              result: root
            };
        {
          let _result = {
            verified: !1,
            result: { error: "Wrong values for Choice type" }
          };
          return inputSchema.hasOwnProperty(NAME) && (_result.name = inputSchema.name), _result;
        }
      }
      if (inputSchema instanceof Any)
        return inputSchema.hasOwnProperty(NAME) && (root[inputSchema.name] = inputData), {
          verified: !0,
          result: root
        };
      if (!(root instanceof Object))
        return {
          verified: !1,
          result: { error: "Wrong root object" }
        };
      if (!(inputData instanceof Object))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 data" }
        };
      if (!(inputSchema instanceof Object))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (!(ID_BLOCK in inputSchema))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (!(FROM_BER in inputSchema.idBlock))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (!(TO_BER in inputSchema.idBlock))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      let encodedId = inputSchema.idBlock.toBER(!1);
      if (encodedId.byteLength === 0)
        return {
          verified: !1,
          result: { error: "Error encoding idBlock for ASN.1 schema" }
        };
      if (inputSchema.idBlock.fromBER(encodedId, 0, encodedId.byteLength) === -1)
        return {
          verified: !1,
          result: { error: "Error decoding idBlock for ASN.1 schema" }
        };
      if (inputSchema.idBlock.hasOwnProperty(TAG_CLASS) === !1)
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (inputSchema.idBlock.tagClass !== inputData.idBlock.tagClass)
        return {
          verified: !1,
          result: root
        };
      if (inputSchema.idBlock.hasOwnProperty(TAG_NUMBER) === !1)
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (inputSchema.idBlock.tagNumber !== inputData.idBlock.tagNumber)
        return {
          verified: !1,
          result: root
        };
      if (inputSchema.idBlock.hasOwnProperty(IS_CONSTRUCTED) === !1)
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (inputSchema.idBlock.isConstructed !== inputData.idBlock.isConstructed)
        return {
          verified: !1,
          result: root
        };
      if (!(IS_HEX_ONLY in inputSchema.idBlock))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema" }
        };
      if (inputSchema.idBlock.isHexOnly !== inputData.idBlock.isHexOnly)
        return {
          verified: !1,
          result: root
        };
      if (inputSchema.idBlock.isHexOnly) {
        if (!(VALUE_HEX_VIEW in inputSchema.idBlock))
          return {
            verified: !1,
            result: { error: "Wrong ASN.1 schema" }
          };
        let schemaView = inputSchema.idBlock.valueHexView, asn1View = inputData.idBlock.valueHexView;
        if (schemaView.length !== asn1View.length)
          return {
            verified: !1,
            result: root
          };
        for (let i = 0; i < schemaView.length; i++)
          if (schemaView[i] !== asn1View[1])
            return {
              verified: !1,
              result: root
            };
      }
      if (inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && (root[inputSchema.name] = inputData)), inputSchema instanceof typeStore.Constructed) {
        let admission = 0, result = {
          verified: !1,
          result: { error: "Unknown error" }
        }, maxLength = inputSchema.valueBlock.value.length;
        if (maxLength > 0 && inputSchema.valueBlock.value[0] instanceof Repeated && (maxLength = inputData.valueBlock.value.length), maxLength === 0)
          return {
            verified: !0,
            result: root
          };
        if (inputData.valueBlock.value.length === 0 && inputSchema.valueBlock.value.length !== 0) {
          let _optional = !0;
          for (let i = 0; i < inputSchema.valueBlock.value.length; i++)
            _optional = _optional && (inputSchema.valueBlock.value[i].optional || !1);
          return _optional ? {
            verified: !0,
            result: root
          } : (inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && delete root[inputSchema.name]), root.error = "Inconsistent object length", {
            verified: !1,
            result: root
          });
        }
        for (let i = 0; i < maxLength; i++)
          if (i - admission >= inputData.valueBlock.value.length) {
            if (inputSchema.valueBlock.value[i].optional === !1) {
              let _result = {
                verified: !1,
                result: root
              };
              return root.error = "Inconsistent length between ASN.1 data and schema", inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && (delete root[inputSchema.name], _result.name = inputSchema.name)), _result;
            }
          } else if (inputSchema.valueBlock.value[0] instanceof Repeated) {
            if (result = compareSchema(root, inputData.valueBlock.value[i], inputSchema.valueBlock.value[0].value), result.verified === !1)
              if (inputSchema.valueBlock.value[0].optional)
                admission++;
              else
                return inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && delete root[inputSchema.name]), result;
            if (NAME in inputSchema.valueBlock.value[0] && inputSchema.valueBlock.value[0].name.length > 0) {
              let arrayRoot = {};
              LOCAL in inputSchema.valueBlock.value[0] && inputSchema.valueBlock.value[0].local ? arrayRoot = inputData : arrayRoot = root, typeof arrayRoot[inputSchema.valueBlock.value[0].name] > "u" && (arrayRoot[inputSchema.valueBlock.value[0].name] = []), arrayRoot[inputSchema.valueBlock.value[0].name].push(inputData.valueBlock.value[i]);
            }
          } else if (result = compareSchema(root, inputData.valueBlock.value[i - admission], inputSchema.valueBlock.value[i]), result.verified === !1)
            if (inputSchema.valueBlock.value[i].optional)
              admission++;
            else
              return inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && delete root[inputSchema.name]), result;
        if (result.verified === !1) {
          let _result = {
            verified: !1,
            result: root
          };
          return inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && (delete root[inputSchema.name], _result.name = inputSchema.name)), _result;
        }
        return {
          verified: !0,
          result: root
        };
      }
      if (inputSchema.primitiveSchema && VALUE_HEX_VIEW in inputData.valueBlock) {
        let asn1 = localFromBER(inputData.valueBlock.valueHexView);
        if (asn1.offset === -1) {
          let _result = {
            verified: !1,
            result: asn1.result
          };
          return inputSchema.name && (inputSchema.name = inputSchema.name.replace(/^\s+|\s+$/g, EMPTY_STRING), inputSchema.name && (delete root[inputSchema.name], _result.name = inputSchema.name)), _result;
        }
        return compareSchema(root, asn1.result, inputSchema.primitiveSchema);
      }
      return {
        verified: !0,
        result: root
      };
    }
    function verifySchema(inputBuffer, inputSchema) {
      if (!(inputSchema instanceof Object))
        return {
          verified: !1,
          result: { error: "Wrong ASN.1 schema type" }
        };
      let asn1 = localFromBER(pvtsutils__namespace.BufferSourceConverter.toUint8Array(inputBuffer));
      return asn1.offset === -1 ? {
        verified: !1,
        result: asn1.result
      } : compareSchema(asn1.result, asn1.result, inputSchema);
    }
    registerBuiltinEncoder({ BitString, Integer, OctetString: OctetString2, Primitive, Constructed, Sequence, Set: Set2 }, {
      BaseBlock,
      ViewWriter,
      LocalIdentificationBlock,
      LocalLengthBlock,
      LocalIntegerValueBlock,
      LocalOctetStringValueBlock,
      LocalConstructedValueBlock,
      LocalBitStringValueBlock,
      LocalPrimitiveValueBlock,
      originalBaseBlockToBER: ORIGINAL_BASE_BLOCK_TO_BER,
      originalWriterWrite: ORIGINAL_VIEW_WRITER_WRITE,
      originalWriterFinal: ORIGINAL_VIEW_WRITER_FINAL,
      originalIdentificationToBER: ORIGINAL_LOCAL_IDENTIFICATION_TO_BER,
      originalLengthToBER: ORIGINAL_LOCAL_LENGTH_TO_BER,
      originalIntegerToBER: ORIGINAL_LOCAL_INTEGER_TO_BER,
      originalOctetStringToBER: ORIGINAL_LOCAL_OCTET_STRING_TO_BER,
      originalBitStringToBER: ORIGINAL_LOCAL_BIT_STRING_TO_BER,
      originalConstructedToBER: ORIGINAL_LOCAL_CONSTRUCTED_TO_BER,
      originalPrimitiveToBER: ORIGINAL_LOCAL_PRIMITIVE_TO_BER
    });
    registerFastParser({ Integer, Null, Sequence });
    exports.Any = Any;
    exports.BaseBlock = BaseBlock;
    exports.BaseStringBlock = BaseStringBlock;
    exports.BitString = BitString;
    exports.BmpString = BmpString;
    exports.Boolean = Boolean2;
    exports.CharacterString = CharacterString;
    exports.Choice = Choice;
    exports.Constructed = Constructed;
    exports.DATE = DATE;
    exports.DEFAULT_MAX_CONTENT_LENGTH = DEFAULT_MAX_CONTENT_LENGTH;
    exports.DEFAULT_MAX_DEPTH = DEFAULT_MAX_DEPTH;
    exports.DEFAULT_MAX_NODES = DEFAULT_MAX_NODES;
    exports.DateTime = DateTime;
    exports.Duration = Duration;
    exports.EndOfContent = EndOfContent;
    exports.Enumerated = Enumerated;
    exports.GeneralString = GeneralString;
    exports.GeneralizedTime = GeneralizedTime;
    exports.GraphicString = GraphicString;
    exports.HexBlock = HexBlock;
    exports.IA5String = IA5String;
    exports.Integer = Integer;
    exports.Null = Null;
    exports.NumericString = NumericString;
    exports.ObjectIdentifier = ObjectIdentifier;
    exports.OctetString = OctetString2;
    exports.Primitive = Primitive;
    exports.PrintableString = PrintableString;
    exports.RawData = RawData;
    exports.RelativeObjectIdentifier = RelativeObjectIdentifier;
    exports.Repeated = Repeated;
    exports.Sequence = Sequence;
    exports.Set = Set2;
    exports.TIME = TIME;
    exports.TeletexString = TeletexString;
    exports.TimeOfDay = TimeOfDay;
    exports.UTCTime = UTCTime;
    exports.UniversalString = UniversalString;
    exports.Utf8String = Utf8String;
    exports.ValueBlock = ValueBlock;
    exports.VideotexString = VideotexString;
    exports.ViewWriter = ViewWriter;
    exports.VisibleString = VisibleString;
    exports.compareSchema = compareSchema;
    exports.fromBER = fromBER;
    exports.verifySchema = verifySchema;
  }
});

// node_modules/@peculiar/utils/build/cjs/bytes/buffer-source.js
var require_buffer_source = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/bytes/buffer-source.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.isArrayBuffer = isArrayBuffer;
    exports.isSharedArrayBuffer = isSharedArrayBuffer;
    exports.isArrayBufferLike = isArrayBufferLike;
    exports.isArrayBufferView = isArrayBufferView;
    exports.isBufferSource = isBufferSource;
    exports.assertBufferSource = assertBufferSource;
    exports.toUint8Array = toUint8Array;
    exports.toUint8ArrayCopy = toUint8ArrayCopy;
    exports.toArrayBuffer = toArrayBuffer;
    exports.toArrayBufferLike = toArrayBufferLike;
    exports.toView = toView;
    exports.toViewCopy = toViewCopy;
    var ARRAY_BUFFER_TAG = "[object ArrayBuffer]", SHARED_ARRAY_BUFFER_TAG = "[object SharedArrayBuffer]";
    function tagOf(value) {
      return Object.prototype.toString.call(value);
    }
    function isDataViewConstructor(type) {
      return type === DataView || type.prototype instanceof DataView;
    }
    function bytesPerElement(type) {
      return isDataViewConstructor(type) ? 1 : type.BYTES_PER_ELEMENT ?? 1;
    }
    function isArrayBufferViewLike(value) {
      if (ArrayBuffer.isView(value))
        return !0;
      if (!value || typeof value != "object")
        return !1;
      let view = value;
      return typeof view.byteOffset == "number" && typeof view.byteLength == "number" && isArrayBufferLike(view.buffer);
    }
    function copyBytes(data) {
      let view = toUint8Array(data), copy = new Uint8Array(view.byteLength);
      return copy.set(view), copy;
    }
    function isArrayBuffer(value) {
      return tagOf(value) === ARRAY_BUFFER_TAG;
    }
    function isSharedArrayBuffer(value) {
      return typeof SharedArrayBuffer < "u" && tagOf(value) === SHARED_ARRAY_BUFFER_TAG;
    }
    function isArrayBufferLike(value) {
      return isArrayBuffer(value) || isSharedArrayBuffer(value);
    }
    function isArrayBufferView(value) {
      return isArrayBufferViewLike(value);
    }
    function isBufferSource(value) {
      return isArrayBufferLike(value) || isArrayBufferView(value);
    }
    function assertBufferSource(value) {
      if (!isBufferSource(value))
        throw new TypeError("Expected ArrayBuffer, SharedArrayBuffer, or ArrayBufferView");
    }
    function toUint8Array(data) {
      return assertBufferSource(data), isArrayBufferLike(data) ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    }
    function toUint8ArrayCopy(data) {
      return copyBytes(data);
    }
    function toArrayBuffer(data) {
      if (assertBufferSource(data), isArrayBuffer(data))
        return data;
      let buffer = new ArrayBuffer(data.byteLength);
      return new Uint8Array(buffer).set(toUint8Array(data)), buffer;
    }
    function toArrayBufferLike(data) {
      return assertBufferSource(data), isArrayBufferLike(data) ? data : data.byteOffset === 0 && data.byteLength === data.buffer.byteLength ? data.buffer : copyBytes(data).buffer;
    }
    function toView(data, type) {
      if (assertBufferSource(data), ArrayBuffer.isView(data) && data.constructor === type)
        return data;
      let view = toUint8Array(data), elementSize = bytesPerElement(type);
      if (view.byteOffset % elementSize !== 0 || view.byteLength % elementSize !== 0)
        throw new RangeError(`Cannot create ${type.name} over unaligned byte range`);
      return isDataViewConstructor(type) ? new type(view.buffer, view.byteOffset, view.byteLength) : new type(view.buffer, view.byteOffset, view.byteLength / elementSize);
    }
    function toViewCopy(data, type) {
      let copy = toUint8ArrayCopy(data);
      return toView(copy, type);
    }
  }
});

// node_modules/@peculiar/utils/build/cjs/bytes/concat.js
var require_concat = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/bytes/concat.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.concatToUint8Array = concatToUint8Array;
    exports.concat = concat;
    var buffer_source_js_1 = require_buffer_source();
    function concatToUint8Array(buffers) {
      let views = [], length = 0;
      for (let buffer of buffers) {
        let view = (0, buffer_source_js_1.toUint8Array)(buffer);
        views.push(view), length += view.byteLength;
      }
      let result = new Uint8Array(length), offset = 0;
      for (let view of views)
        result.set(view, offset), offset += view.byteLength;
      return result;
    }
    function concat(first, second, ...rest) {
      let buffers, type;
      typeof second == "function" ? (buffers = Array.from(first), type = second) : (0, buffer_source_js_1.isBufferSource)(first) ? buffers = [first, second, ...rest].filter(buffer_source_js_1.isBufferSource) : (buffers = Array.from(first), second && buffers.push(second), buffers.push(...rest));
      let bytes = concatToUint8Array(buffers);
      return type ? (0, buffer_source_js_1.toView)(bytes, type) : bytes.buffer;
    }
  }
});

// node_modules/@peculiar/utils/build/cjs/bytes/equal.js
var require_equal = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/bytes/equal.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.equal = equal;
    var buffer_source_js_1 = require_buffer_source();
    function equal(a, b, options = {}) {
      let left = (0, buffer_source_js_1.toUint8Array)(a), right = (0, buffer_source_js_1.toUint8Array)(b);
      if (!options.constantTime && left.byteLength !== right.byteLength)
        return !1;
      let length = Math.max(left.byteLength, right.byteLength), diff = left.byteLength ^ right.byteLength;
      for (let i = 0; i < length; i++)
        diff |= (left[i] ?? 0) ^ (right[i] ?? 0);
      return diff === 0;
    }
  }
});

// node_modules/@peculiar/utils/build/cjs/bytes/sequence.js
var require_sequence = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/bytes/sequence.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.indexOf = indexOf;
    exports.lastIndexOf = lastIndexOf;
    exports.includes = includes;
    exports.startsWith = startsWith;
    exports.endsWith = endsWith;
    exports.slice = slice;
    exports.tail = tail;
    exports.copy = copy;
    exports.compare = compare;
    var buffer_source_js_1 = require_buffer_source();
    function clampIndex(value, fallback, length) {
      let normalized = Number.isFinite(value) ? Math.trunc(value) : fallback;
      return normalized <= 0 ? 0 : normalized >= length ? length : normalized;
    }
    function normalizeForwardRange(length, options) {
      let start = clampIndex(options?.start, 0, length), end = clampIndex(options?.end, length, length);
      return end >= start ? [start, end] : [start, start];
    }
    function normalizeReverseRange(length, options) {
      let start = clampIndex(options?.start, length, length), end = clampIndex(options?.end, 0, length);
      return start >= end ? [end, start] : [start, start];
    }
    function normalizeSliceIndex(value, fallback, length) {
      let normalized = Number.isFinite(value) ? Math.trunc(value) : fallback;
      return normalized < 0 ? Math.max(length + normalized, 0) : normalized > length ? length : normalized;
    }
    function encodeAscii(text) {
      let bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i) & 255;
      return bytes;
    }
    function encodeUtf8(text) {
      return new TextEncoder().encode(text);
    }
    function toPatternBytes(pattern, options) {
      return typeof pattern == "string" ? options?.encoding === "utf8" ? encodeUtf8(pattern) : encodeAscii(pattern) : (0, buffer_source_js_1.toUint8Array)(pattern);
    }
    function bytesEqualAt(data, pattern, offset) {
      for (let index = 0; index < pattern.byteLength; index++)
        if (data[offset + index] !== pattern[index])
          return !1;
      return !0;
    }
    function indexOf(data, pattern, options) {
      let bytes = (0, buffer_source_js_1.toUint8Array)(data), needle = toPatternBytes(pattern, options), [start, end] = normalizeForwardRange(bytes.byteLength, options);
      if (needle.byteLength === 0)
        return start;
      let lastOffset = end - needle.byteLength;
      if (lastOffset < start)
        return -1;
      for (let offset = start; offset <= lastOffset; offset++)
        if (bytesEqualAt(bytes, needle, offset))
          return offset;
      return -1;
    }
    function lastIndexOf(data, pattern, options) {
      let bytes = (0, buffer_source_js_1.toUint8Array)(data), needle = toPatternBytes(pattern, options), [end, start] = normalizeReverseRange(bytes.byteLength, options);
      if (needle.byteLength === 0)
        return start;
      let firstOffset = start - needle.byteLength;
      if (firstOffset < end)
        return -1;
      for (let offset = firstOffset; offset >= end; offset--)
        if (bytesEqualAt(bytes, needle, offset))
          return offset;
      return -1;
    }
    function includes(data, pattern, options) {
      return indexOf(data, pattern, options) !== -1;
    }
    function startsWith(data, pattern, options) {
      let bytes = (0, buffer_source_js_1.toUint8Array)(data), needle = toPatternBytes(pattern, options);
      return needle.byteLength > bytes.byteLength ? !1 : bytesEqualAt(bytes, needle, 0);
    }
    function endsWith(data, pattern, options) {
      let bytes = (0, buffer_source_js_1.toUint8Array)(data), needle = toPatternBytes(pattern, options);
      return needle.byteLength > bytes.byteLength ? !1 : bytesEqualAt(bytes, needle, bytes.byteLength - needle.byteLength);
    }
    function slice(data, start, end) {
      let bytes = (0, buffer_source_js_1.toUint8Array)(data), normalizedStart = normalizeSliceIndex(start, 0, bytes.byteLength), normalizedEnd = normalizeSliceIndex(end, bytes.byteLength, bytes.byteLength);
      return normalizedEnd <= normalizedStart ? bytes.subarray(normalizedStart, normalizedStart) : bytes.subarray(normalizedStart, normalizedEnd);
    }
    function tail(data, length) {
      let bytes = (0, buffer_source_js_1.toUint8Array)(data), normalizedLength = Number.isFinite(length) ? Math.max(0, Math.trunc(length)) : 0;
      return normalizedLength >= bytes.byteLength ? bytes : bytes.subarray(bytes.byteLength - normalizedLength);
    }
    function copy(data) {
      return (0, buffer_source_js_1.toUint8ArrayCopy)(data);
    }
    function compare(a, b) {
      let left = (0, buffer_source_js_1.toUint8Array)(a), right = (0, buffer_source_js_1.toUint8Array)(b), limit = Math.min(left.byteLength, right.byteLength);
      for (let index = 0; index < limit; index++) {
        if (left[index] < right[index])
          return -1;
        if (left[index] > right[index])
          return 1;
      }
      return left.byteLength < right.byteLength ? -1 : left.byteLength > right.byteLength ? 1 : 0;
    }
  }
});

// node_modules/@peculiar/utils/build/cjs/bytes/index.js
var require_bytes = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/bytes/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.tail = exports.startsWith = exports.slice = exports.lastIndexOf = exports.indexOf = exports.includes = exports.endsWith = exports.copy = exports.compare = exports.equal = exports.concatToUint8Array = exports.concat = exports.toViewCopy = exports.toView = exports.toUint8ArrayCopy = exports.toUint8Array = exports.toArrayBufferLike = exports.toArrayBuffer = exports.isSharedArrayBuffer = exports.isBufferSource = exports.isArrayBufferView = exports.isArrayBufferLike = exports.isArrayBuffer = exports.assertBufferSource = void 0;
    var buffer_source_js_1 = require_buffer_source();
    Object.defineProperty(exports, "assertBufferSource", { enumerable: !0, get: function() {
      return buffer_source_js_1.assertBufferSource;
    } });
    Object.defineProperty(exports, "isArrayBuffer", { enumerable: !0, get: function() {
      return buffer_source_js_1.isArrayBuffer;
    } });
    Object.defineProperty(exports, "isArrayBufferLike", { enumerable: !0, get: function() {
      return buffer_source_js_1.isArrayBufferLike;
    } });
    Object.defineProperty(exports, "isArrayBufferView", { enumerable: !0, get: function() {
      return buffer_source_js_1.isArrayBufferView;
    } });
    Object.defineProperty(exports, "isBufferSource", { enumerable: !0, get: function() {
      return buffer_source_js_1.isBufferSource;
    } });
    Object.defineProperty(exports, "isSharedArrayBuffer", { enumerable: !0, get: function() {
      return buffer_source_js_1.isSharedArrayBuffer;
    } });
    Object.defineProperty(exports, "toArrayBuffer", { enumerable: !0, get: function() {
      return buffer_source_js_1.toArrayBuffer;
    } });
    Object.defineProperty(exports, "toArrayBufferLike", { enumerable: !0, get: function() {
      return buffer_source_js_1.toArrayBufferLike;
    } });
    Object.defineProperty(exports, "toUint8Array", { enumerable: !0, get: function() {
      return buffer_source_js_1.toUint8Array;
    } });
    Object.defineProperty(exports, "toUint8ArrayCopy", { enumerable: !0, get: function() {
      return buffer_source_js_1.toUint8ArrayCopy;
    } });
    Object.defineProperty(exports, "toView", { enumerable: !0, get: function() {
      return buffer_source_js_1.toView;
    } });
    Object.defineProperty(exports, "toViewCopy", { enumerable: !0, get: function() {
      return buffer_source_js_1.toViewCopy;
    } });
    var concat_js_1 = require_concat();
    Object.defineProperty(exports, "concat", { enumerable: !0, get: function() {
      return concat_js_1.concat;
    } });
    Object.defineProperty(exports, "concatToUint8Array", { enumerable: !0, get: function() {
      return concat_js_1.concatToUint8Array;
    } });
    var equal_js_1 = require_equal();
    Object.defineProperty(exports, "equal", { enumerable: !0, get: function() {
      return equal_js_1.equal;
    } });
    var sequence_js_1 = require_sequence();
    Object.defineProperty(exports, "compare", { enumerable: !0, get: function() {
      return sequence_js_1.compare;
    } });
    Object.defineProperty(exports, "copy", { enumerable: !0, get: function() {
      return sequence_js_1.copy;
    } });
    Object.defineProperty(exports, "endsWith", { enumerable: !0, get: function() {
      return sequence_js_1.endsWith;
    } });
    Object.defineProperty(exports, "includes", { enumerable: !0, get: function() {
      return sequence_js_1.includes;
    } });
    Object.defineProperty(exports, "indexOf", { enumerable: !0, get: function() {
      return sequence_js_1.indexOf;
    } });
    Object.defineProperty(exports, "lastIndexOf", { enumerable: !0, get: function() {
      return sequence_js_1.lastIndexOf;
    } });
    Object.defineProperty(exports, "slice", { enumerable: !0, get: function() {
      return sequence_js_1.slice;
    } });
    Object.defineProperty(exports, "startsWith", { enumerable: !0, get: function() {
      return sequence_js_1.startsWith;
    } });
    Object.defineProperty(exports, "tail", { enumerable: !0, get: function() {
      return sequence_js_1.tail;
    } });
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/binary.js
var require_binary = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/binary.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.binary = void 0;
    exports.encode = encode;
    exports.decode = decode;
    exports.is = is;
    var index_js_1 = require_bytes();
    function encode(data) {
      let bytes = (0, index_js_1.toUint8Array)(data), result = "";
      for (let byte of bytes)
        result += String.fromCharCode(byte);
      return result;
    }
    function decode(text) {
      let result = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++)
        result[i] = text.charCodeAt(i) & 255;
      return result;
    }
    function is(text) {
      return typeof text == "string";
    }
    exports.binary = { encode, decode, is };
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/hex.js
var require_hex = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/hex.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.hex = exports.formats = void 0;
    exports.normalize = normalize;
    exports.is = is;
    exports.encode = encode;
    exports.decode = decode;
    exports.parse = parse;
    exports.format = format;
    var index_js_1 = require_bytes(), HEX_CHARACTER_REGEX = /^[0-9a-f]$/i, COMMON_SEPARATORS = [" ", "	", `
`, "\r", ":", "-", "."];
    function resolveSeparators(options) {
      return options.separators === "none" ? [] : !options.separators || options.separators === "common" ? COMMON_SEPARATORS : options.separators;
    }
    function validateSeparator(separator) {
      if (!separator)
        throw new TypeError("Hex separators must be non-empty strings");
    }
    function matchSeparator(text, index, separators) {
      for (let separator of separators)
        if (text.startsWith(separator, index))
          return separator;
    }
    function detectCase(text) {
      let hasUpper = /[A-F]/.test(text), hasLower = /[a-f]/.test(text);
      return hasUpper && !hasLower ? "upper" : "lower";
    }
    function detectLineSeparator(text) {
      let match = /\r\n|\n/.exec(text);
      if (match)
        return match[0] === `\r
` ? `\r
` : `
`;
    }
    function compactForDetection(text) {
      return text.replace(/[^0-9a-f]/gi, "");
    }
    function detectGroup(text) {
      let segments = text.match(/[0-9A-Fa-f]+|[^0-9A-Fa-f]+/g) ?? [];
      if (segments.length < 3)
        return;
      let hexSegments = segments.filter((_, index) => index % 2 === 0), separators = segments.filter((_, index) => index % 2 === 1), separator = separators[0];
      if (!separator || separators.some((item) => item !== separator) || hexSegments.some((segment) => segment.length === 0 || segment.length % 2 !== 0))
        return;
      let firstLength = hexSegments[0]?.length ?? 0;
      if (firstLength && !hexSegments.slice(0, -1).some((segment) => segment.length !== firstLength) && !((hexSegments[hexSegments.length - 1]?.length ?? 0) > firstLength))
        return {
          size: firstLength / 2,
          separator
        };
    }
    function detectFormat(text) {
      let trimmed = text.trim(), prefix = /^0x/i.test(trimmed) ? "0x" : "", body = prefix ? trimmed.slice(2) : trimmed, lineSeparator = detectLineSeparator(body), lines = body.split(/\r\n|\n/).filter((line) => line.length > 0), sampleLine = lines[0]?.trim() ?? "", group = detectGroup(sampleLine), format2 = {
        case: detectCase(trimmed),
        prefix
      };
      if (group && (format2.group = group), lineSeparator && lines.length > 1) {
        let firstLineBytes = compactForDetection(lines[0] ?? "").length / 2;
        firstLineBytes > 0 && lines.slice(0, -1).every((line) => compactForDetection(line).length / 2 === firstLineBytes) && (format2.line = {
          bytesPerLine: firstLineBytes,
          separator: lineSeparator
        });
      }
      return format2;
    }
    function normalizeText(text, options) {
      let allowPrefix = options.allowPrefix ?? !0, separators = [...resolveSeparators(options)].sort((left, right) => right.length - left.length);
      for (let separator of separators)
        validateSeparator(separator);
      let working = text.trim();
      if (/^0x/i.test(working)) {
        if (!allowPrefix)
          throw new TypeError("Hexadecimal text must not include a 0x prefix");
        working = working.slice(2);
      }
      let normalized = "", lastTokenWasSeparator = !1;
      for (let index = 0; index < working.length; ) {
        let character = working[index] ?? "";
        if (HEX_CHARACTER_REGEX.test(character)) {
          normalized += character, lastTokenWasSeparator = !1, index += 1;
          continue;
        }
        let separator = matchSeparator(working, index, separators);
        if (!separator)
          throw new TypeError("Input is not valid hexadecimal text");
        if (options.strict && (lastTokenWasSeparator || normalized.length === 0))
          throw new TypeError("Hexadecimal text contains misplaced separators");
        lastTokenWasSeparator = !0, index += separator.length;
      }
      if (options.strict && lastTokenWasSeparator && normalized.length > 0)
        throw new TypeError("Hexadecimal text must not end with a separator");
      if (normalized.length % 2 !== 0) {
        if (!options.allowOddLength)
          throw new TypeError("Hexadecimal text must contain an even number of characters");
        normalized = `0${normalized}`;
      }
      return normalized.toLowerCase();
    }
    function groupPairs(pairs, group) {
      if (!group)
        return pairs.join("");
      if (!Number.isInteger(group.size) || group.size < 1)
        throw new RangeError("Hex group size must be a positive integer");
      let chunks = [];
      for (let index = 0; index < pairs.length; index += group.size)
        chunks.push(pairs.slice(index, index + group.size).join(""));
      return chunks.join(group.separator);
    }
    function normalize(text, options = {}) {
      return normalizeText(text, options);
    }
    function is(text, options = {}) {
      if (typeof text != "string")
        return !1;
      try {
        return normalize(text, options), !0;
      } catch {
        return !1;
      }
    }
    function encode(data, options = {}) {
      let bytes = (0, index_js_1.toUint8Array)(data), casing = options.case ?? "lower", pairs = Array.from(bytes, (byte) => {
        let text = byte.toString(16).padStart(2, "0");
        return casing === "upper" ? text.toUpperCase() : text;
      }), body = "";
      if (options.line) {
        let bytesPerLine = options.line.bytesPerLine;
        if (!Number.isInteger(bytesPerLine) || bytesPerLine < 1)
          throw new RangeError("Hex bytesPerLine must be a positive integer");
        let separator = options.line.separator ?? `
`, lines = [];
        for (let index = 0; index < pairs.length; index += bytesPerLine)
          lines.push(groupPairs(pairs.slice(index, index + bytesPerLine), options.group));
        body = lines.join(separator);
      } else
        body = groupPairs(pairs, options.group);
      return `${options.prefix ?? ""}${body}`;
    }
    function decode(text, options = {}) {
      let normalized = normalize(text, options), result = new Uint8Array(normalized.length / 2);
      for (let i = 0; i < normalized.length; i += 2)
        result[i / 2] = Number.parseInt(normalized.slice(i, i + 2), 16);
      return result;
    }
    function parse(text, options = {}) {
      let normalized = normalize(text, options);
      return {
        bytes: decode(normalized),
        format: detectFormat(text),
        normalized
      };
    }
    function format(data, value) {
      return encode(data, value);
    }
    exports.formats = {
      compact: Object.freeze({}),
      upper: Object.freeze({ case: "upper" }),
      colon: Object.freeze({ group: { size: 1, separator: ":" } }),
      colonUpper: Object.freeze({ case: "upper", group: { size: 1, separator: ":" } }),
      groupsOf4: Object.freeze({ group: { size: 4, separator: " " } }),
      prefixed: Object.freeze({ prefix: "0x" })
    };
    exports.hex = { encode, decode, format, formats: exports.formats, is, normalize, parse };
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/utf8.js
var require_utf8 = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/utf8.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.utf8 = void 0;
    exports.encode = encode;
    exports.decode = decode;
    var index_js_1 = require_bytes();
    function encode(text) {
      return new TextEncoder().encode(text);
    }
    function decode(data) {
      return new TextDecoder("utf-8", { fatal: !1 }).decode((0, index_js_1.toUint8Array)(data));
    }
    exports.utf8 = { encode, decode };
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/utf16.js
var require_utf16 = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/utf16.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.utf16 = void 0;
    exports.encode = encode;
    exports.decode = decode;
    var index_js_1 = require_bytes();
    function encode(text, options = {}) {
      let result = new ArrayBuffer(text.length * 2), view = new DataView(result);
      for (let i = 0; i < text.length; i++)
        view.setUint16(i * 2, text.charCodeAt(i), options.littleEndian ?? !1);
      return new Uint8Array(result);
    }
    function decode(data, options = {}) {
      let buffer = (0, index_js_1.toArrayBuffer)(data), view = new DataView(buffer), result = "";
      for (let i = 0; i < buffer.byteLength; i += 2)
        result += String.fromCharCode(view.getUint16(i, options.littleEndian ?? !1));
      return result;
    }
    exports.utf16 = { encode, decode };
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/base64.js
var require_base64 = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/base64.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.base64 = void 0;
    exports.normalize = normalize;
    exports.pad = pad;
    exports.is = is;
    exports.encode = encode;
    exports.decode = decode;
    var index_js_1 = require_bytes(), binary_js_1 = require_binary(), BASE64_REGEX = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
    function nodeBuffer() {
      return globalThis.Buffer;
    }
    function normalize(text) {
      return text.replace(/[\n\r\t ]/g, "");
    }
    function pad(text) {
      let remainder = text.length % 4;
      return remainder ? text + "=".repeat(4 - remainder) : text;
    }
    function is(text) {
      if (typeof text != "string")
        return !1;
      let normalized = normalize(text);
      return normalized === "" || BASE64_REGEX.test(normalized);
    }
    function encode(data, _options) {
      let bytes = (0, index_js_1.toUint8Array)(data), buffer = nodeBuffer();
      return buffer ? buffer.from(bytes).toString("base64") : btoa((0, binary_js_1.encode)(bytes));
    }
    function decode(text, _options) {
      let normalized = normalize(text);
      if (!is(normalized))
        throw new TypeError("Input is not valid Base64 text");
      let buffer = nodeBuffer();
      return buffer ? new Uint8Array(buffer.from(normalized, "base64")) : (0, binary_js_1.decode)(atob(normalized));
    }
    exports.base64 = { encode, decode, is, normalize, pad };
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/base64url.js
var require_base64url = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/base64url.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.base64url = void 0;
    exports.normalize = normalize;
    exports.is = is;
    exports.encode = encode;
    exports.decode = decode;
    var base64_js_1 = require_base64(), BASE64URL_REGEX = /^[A-Za-z0-9_-]*$/;
    function normalize(text) {
      return text.replace(/[\n\r\t ]/g, "");
    }
    function is(text) {
      return typeof text == "string" && BASE64URL_REGEX.test(normalize(text));
    }
    function encode(data, _options) {
      return base64_js_1.base64.encode(data).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/g, "");
    }
    function decode(text, _options) {
      let normalized = normalize(text);
      if (!is(normalized))
        throw new TypeError("Input is not valid Base64Url text");
      return base64_js_1.base64.decode(base64_js_1.base64.pad(normalized.replace(/-/g, "+").replace(/_/g, "/")));
    }
    exports.base64url = { encode, decode, is, normalize };
  }
});

// node_modules/@peculiar/utils/build/cjs/encoding/index.js
var require_encoding = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/encoding/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.base64url = exports.base64 = exports.utf16 = exports.utf8 = exports.hex = exports.binary = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    exports.binary = tslib_1.__importStar(require_binary());
    exports.hex = tslib_1.__importStar(require_hex());
    exports.utf8 = tslib_1.__importStar(require_utf8());
    exports.utf16 = tslib_1.__importStar(require_utf16());
    exports.base64 = tslib_1.__importStar(require_base64());
    exports.base64url = tslib_1.__importStar(require_base64url());
  }
});

// node_modules/@peculiar/utils/build/cjs/pem/pem.js
var require_pem = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/pem/pem.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.pemConverter = exports.pem = void 0;
    exports.encode = encode;
    exports.encodeMany = encodeMany;
    exports.decode = decode;
    exports.find = find;
    exports.findAll = findAll;
    exports.decodeFirst = decodeFirst;
    exports.parse = parse;
    exports.format = format;
    var base64_js_1 = require_base64(), LABEL_REGEX = /^[A-Z0-9][A-Z0-9 ._-]*[A-Z0-9]$/i, PEM_BLOCK_REGEX = /-----BEGIN ([^-]+)-----([\s\S]*?)-----END \1-----/g;
    function assertLabel(label) {
      if (!LABEL_REGEX.test(label))
        throw new TypeError(`Invalid PEM label '${label}'`);
    }
    function wrap(text, lineLength) {
      let result = [];
      for (let i = 0; i < text.length; i += lineLength)
        result.push(text.slice(i, i + lineLength));
      return result;
    }
    function parseBody(body) {
      let lines = body.trim().replace(/\r\n/g, `
`).split(`
`).map((line) => line.trim()).filter(Boolean), headers = {}, index = 0;
      for (; index < lines.length; index++) {
        let line = lines[index], separator = line.indexOf(":");
        if (separator <= 0)
          break;
        headers[line.slice(0, separator).trim()] = line.slice(separator + 1).trim();
      }
      return {
        headers: Object.keys(headers).length ? headers : void 0,
        base64Lines: lines.slice(index),
        base64Text: lines.slice(index).join("")
      };
    }
    function detectNewline(text) {
      return /\r\n/.test(text) ? `\r
` : `
`;
    }
    function collectBlocks(text, options = {}) {
      let blocks = [], requestedLabel = options.label, match;
      for (PEM_BLOCK_REGEX.lastIndex = 0; match = PEM_BLOCK_REGEX.exec(text); ) {
        let label = match[1].trim();
        if (requestedLabel && label !== requestedLabel)
          continue;
        assertLabel(label);
        let parsed = parseBody(match[2]);
        blocks.push({
          label,
          data: base64_js_1.base64.decode(parsed.base64Text),
          headers: parsed.headers,
          lineLength: parsed.base64Lines[0]?.length ?? 64,
          newline: detectNewline(match[0])
        });
      }
      if (options.strict && blocks.length === 0)
        throw new TypeError(requestedLabel ? `No PEM block with label '${requestedLabel}' was found` : "No PEM blocks were found");
      return blocks;
    }
    function encode(label, data, options = {}) {
      assertLabel(label);
      let lineLength = options.lineLength ?? 64;
      if (!Number.isInteger(lineLength) || lineLength < 1)
        throw new RangeError("PEM lineLength must be a positive integer");
      let newline = options.newline ?? `
`, lines = [`-----BEGIN ${label}-----`];
      if (options.headers) {
        for (let [name, value] of Object.entries(options.headers))
          lines.push(`${name}: ${value}`);
        lines.push("");
      }
      return lines.push(...wrap(base64_js_1.base64.encode(data), lineLength)), lines.push(`-----END ${label}-----`), `${lines.join(newline)}${newline}`;
    }
    function encodeMany(blocks, options = {}) {
      return blocks.map((block) => encode(block.label, block.data, { ...options, headers: block.headers ?? options.headers })).join("");
    }
    function decode(text, options = {}) {
      return collectBlocks(text, options).map(({ lineLength: _lineLength, newline: _newline, ...block }) => block);
    }
    function find(text, label) {
      return decode(text, { label })[0];
    }
    function findAll(text, label) {
      return decode(text, { label });
    }
    function decodeFirst(text, label) {
      let [block] = decode(text, { label, strict: !0 });
      return block.data;
    }
    function parse(text, options = {}) {
      let [block] = collectBlocks(text, { ...options, strict: !0 }), format2 = {
        label: block.label,
        headers: block.headers,
        lineLength: block.lineLength,
        newline: block.newline
      };
      return {
        bytes: block.data,
        format: format2,
        normalized: encode(block.label, block.data, format2)
      };
    }
    function format(data, value) {
      return encode(value.label, data, value);
    }
    exports.pem = { decode, decodeFirst, encode, encodeMany, find, findAll, format, parse };
    exports.pemConverter = {
      name: "pem",
      encode: (data, options) => {
        if (!options?.label)
          throw new TypeError("PEM label is required");
        return encode(options.label, data, options);
      },
      decode: (text, options) => decodeFirst(text, options?.label),
      format,
      is: (text) => typeof text == "string" && /-----BEGIN [^-]+-----/.test(text),
      parse
    };
  }
});

// node_modules/@peculiar/utils/build/cjs/pem/index.js
var require_pem2 = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/pem/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.pemConverter = exports.pem = exports.parse = exports.format = exports.findAll = exports.find = exports.encodeMany = exports.encode = exports.decodeFirst = exports.decode = void 0;
    var pem_js_1 = require_pem();
    Object.defineProperty(exports, "decode", { enumerable: !0, get: function() {
      return pem_js_1.decode;
    } });
    Object.defineProperty(exports, "decodeFirst", { enumerable: !0, get: function() {
      return pem_js_1.decodeFirst;
    } });
    Object.defineProperty(exports, "encode", { enumerable: !0, get: function() {
      return pem_js_1.encode;
    } });
    Object.defineProperty(exports, "encodeMany", { enumerable: !0, get: function() {
      return pem_js_1.encodeMany;
    } });
    Object.defineProperty(exports, "find", { enumerable: !0, get: function() {
      return pem_js_1.find;
    } });
    Object.defineProperty(exports, "findAll", { enumerable: !0, get: function() {
      return pem_js_1.findAll;
    } });
    Object.defineProperty(exports, "format", { enumerable: !0, get: function() {
      return pem_js_1.format;
    } });
    Object.defineProperty(exports, "parse", { enumerable: !0, get: function() {
      return pem_js_1.parse;
    } });
    Object.defineProperty(exports, "pem", { enumerable: !0, get: function() {
      return pem_js_1.pem;
    } });
    Object.defineProperty(exports, "pemConverter", { enumerable: !0, get: function() {
      return pem_js_1.pemConverter;
    } });
  }
});

// node_modules/@peculiar/utils/build/cjs/converters/registry.js
var require_registry = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/converters/registry.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.createConverterRegistry = createConverterRegistry;
    function keyOf(name) {
      return name.trim().toLowerCase();
    }
    function toError(error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    function removeConverter(converters, primaryNames, converter) {
      for (let alias of [converter.name, ...converter.aliases ?? []])
        converters.delete(keyOf(alias));
      primaryNames.delete(keyOf(converter.name));
    }
    function requireCapability(converter, name, capability) {
      let method = converter[capability];
      if (typeof method != "function")
        throw new Error(`Converter '${name}' does not support ${capability}()`);
      return method;
    }
    function detectConfidence(name, text, converter) {
      let normalizedName = keyOf(converter.name || name), trimmed = text.trim();
      if (!trimmed)
        return 0;
      let accepted = !1;
      converter.is && (accepted = converter.is(text));
      let decodable = !1;
      try {
        converter.decode(text), decodable = !0;
      } catch {
        decodable = !1;
      }
      if (!accepted && !decodable)
        return 0;
      switch (normalizedName) {
        case "pem":
          return /-----BEGIN [^-]+-----/.test(text) ? 1 : 0;
        case "hex": {
          let compact = trimmed.replace(/^0x/i, "").replace(/[\s:.-]/g, "");
          return !compact || /[^0-9a-f]/i.test(compact) || compact.length % 2 !== 0 ? 0 : /^0x/i.test(trimmed) || /[:\s.-]/.test(trimmed) ? 0.95 : /[a-f]/.test(trimmed) || /[A-F]/.test(trimmed) ? 0.8 : 0.45;
        }
        case "base64url":
          return /[-_]/.test(trimmed) ? 0.95 : /=/.test(trimmed) ? 0.1 : 0.6;
        case "base64":
          return /[+/=]/.test(trimmed) ? 0.9 : 0.55;
        case "binary":
        case "utf8":
        case "utf16be":
        case "utf16le":
          return 0;
        default:
          return accepted && decodable ? 0.75 : 0.5;
      }
    }
    function createConverterRegistry(initialConverters = []) {
      let converters = /* @__PURE__ */ new Map(), primaryNames = /* @__PURE__ */ new Set(), api = {
        register(converter, options = {}) {
          if (!converter.name || !keyOf(converter.name))
            throw new TypeError("Converter name is required");
          let names = [...new Set([converter.name, ...converter.aliases ?? []].map(keyOf))], conflicts = /* @__PURE__ */ new Set();
          for (let name of names) {
            let existing = converters.get(name);
            if (existing) {
              if (!options.override)
                throw new Error(`Converter '${name}' is already registered`);
              conflicts.add(existing);
            }
          }
          for (let conflicting of conflicts)
            removeConverter(converters, primaryNames, conflicting);
          for (let name of names)
            converters.set(name, converter);
          return primaryNames.add(keyOf(converter.name)), this;
        },
        unregister(name) {
          let converter = converters.get(keyOf(name));
          return converter ? (removeConverter(converters, primaryNames, converter), !0) : !1;
        },
        has(name) {
          return converters.has(keyOf(name));
        },
        get(name) {
          let converter = converters.get(keyOf(name));
          if (!converter)
            throw new Error(`Converter '${name}' is not registered`);
          return converter;
        },
        list() {
          return [...primaryNames].map((name) => this.get(name));
        },
        encode(name, data, options) {
          return this.get(name).encode(data, options);
        },
        decode(name, text, options) {
          return this.get(name).decode(text, options);
        },
        tryDecode(name, text, options) {
          try {
            return { ok: !0, bytes: this.decode(name, text, options) };
          } catch (error) {
            return { ok: !1, error: toError(error) };
          }
        },
        normalize(name, text, options) {
          let converter = this.get(name);
          return requireCapability(converter, name, "normalize").call(converter, text, options);
        },
        parse(name, text, options) {
          let converter = this.get(name);
          return requireCapability(converter, name, "parse").call(converter, text, options);
        },
        format(name, data, format) {
          let converter = this.get(name);
          return requireCapability(converter, name, "format").call(converter, data, format);
        },
        transcode(text, options) {
          let bytes = this.decode(options.from, text, options.fromOptions);
          return this.encode(options.to, bytes, options.toOptions);
        },
        detect(text, options = {}) {
          let formatNames = options.formats?.length ? options.formats.map((name) => String(name)) : this.list().map((converter) => converter.name).filter((name) => !["binary", "utf8", "utf16be", "utf16le"].includes(keyOf(name))), detections = /* @__PURE__ */ new Map();
          for (let requestedName of formatNames) {
            let converter = this.get(requestedName), confidence = detectConfidence(requestedName, text, converter);
            if (confidence <= 0)
              continue;
            let format = converter.name, current = detections.get(format);
            (!current || confidence > current.confidence) && detections.set(format, { format, confidence });
          }
          return [...detections.values()].sort((left, right) => right.confidence - left.confidence);
        }
      };
      for (let converter of initialConverters)
        api.register(converter);
      return api;
    }
  }
});

// node_modules/@peculiar/utils/build/cjs/converters/defaults.js
var require_defaults = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/converters/defaults.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.defaultConverterRegistry = exports.defaultConverters = exports.utf16leConverter = exports.utf16beConverter = exports.utf8Converter = exports.base64urlConverter = exports.base64Converter = exports.hexConverter = exports.binaryConverter = exports.pemConverter = void 0;
    var index_js_1 = require_encoding(), index_js_2 = require_pem2(), index_js_3 = require_pem2();
    Object.defineProperty(exports, "pemConverter", { enumerable: !0, get: function() {
      return index_js_3.pemConverter;
    } });
    var registry_js_1 = require_registry();
    exports.binaryConverter = {
      name: "binary",
      aliases: ["latin1"],
      encode: index_js_1.binary.encode,
      decode: index_js_1.binary.decode,
      is: index_js_1.binary.is
    };
    exports.hexConverter = {
      name: "hex",
      encode: index_js_1.hex.encode,
      decode: index_js_1.hex.decode,
      format: index_js_1.hex.format,
      is: index_js_1.hex.is,
      normalize: index_js_1.hex.normalize,
      parse: index_js_1.hex.parse
    };
    exports.base64Converter = {
      name: "base64",
      aliases: ["b64"],
      encode: index_js_1.base64.encode,
      decode: index_js_1.base64.decode,
      is: index_js_1.base64.is,
      normalize: index_js_1.base64.normalize
    };
    exports.base64urlConverter = {
      name: "base64url",
      aliases: ["base64-url", "b64url"],
      encode: index_js_1.base64url.encode,
      decode: index_js_1.base64url.decode,
      is: index_js_1.base64url.is,
      normalize: index_js_1.base64url.normalize
    };
    exports.utf8Converter = {
      name: "utf8",
      aliases: ["utf-8"],
      encode: (data) => index_js_1.utf8.decode(data),
      decode: (text) => index_js_1.utf8.encode(text),
      is: (text) => typeof text == "string"
    };
    exports.utf16beConverter = {
      name: "utf16be",
      aliases: ["utf16", "utf-16", "utf-16be"],
      encode: (data) => index_js_1.utf16.decode(data),
      decode: (text) => index_js_1.utf16.encode(text),
      is: (text) => typeof text == "string"
    };
    exports.utf16leConverter = {
      name: "utf16le",
      aliases: ["utf-16le", "ucs2", "usc2"],
      encode: (data) => index_js_1.utf16.decode(data, { littleEndian: !0 }),
      decode: (text) => index_js_1.utf16.encode(text, { littleEndian: !0 }),
      is: (text) => typeof text == "string"
    };
    exports.defaultConverters = [
      exports.binaryConverter,
      exports.hexConverter,
      exports.base64Converter,
      exports.base64urlConverter,
      exports.utf8Converter,
      exports.utf16beConverter,
      exports.utf16leConverter,
      index_js_2.pemConverter
    ];
    exports.defaultConverterRegistry = (0, registry_js_1.createConverterRegistry)(exports.defaultConverters);
  }
});

// node_modules/@peculiar/utils/build/cjs/converters/convert.js
var require_convert = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/converters/convert.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.convert = void 0;
    var index_js_1 = require_bytes(), index_js_2 = require_encoding(), defaults_js_1 = require_defaults();
    function encode(name, data, ...args) {
      return defaults_js_1.defaultConverterRegistry.encode(name, data, ...args);
    }
    function decode(name, text, ...args) {
      return defaults_js_1.defaultConverterRegistry.decode(name, text, ...args);
    }
    function tryDecode(name, text, ...args) {
      return defaults_js_1.defaultConverterRegistry.tryDecode(name, text, ...args);
    }
    function normalize(name, text, ...args) {
      return defaults_js_1.defaultConverterRegistry.normalize(name, text, ...args);
    }
    function parse(name, text, ...args) {
      return defaults_js_1.defaultConverterRegistry.parse(name, text, ...args);
    }
    function format(name, data, value) {
      return defaults_js_1.defaultConverterRegistry.format(name, data, value);
    }
    function transcode(text, options) {
      return defaults_js_1.defaultConverterRegistry.transcode(text, options);
    }
    function detect(text, options) {
      return defaults_js_1.defaultConverterRegistry.detect(text, options);
    }
    function normalizeEncodingName(encoding) {
      return encoding.toLowerCase();
    }
    exports.convert = {
      encode,
      decode,
      tryDecode,
      normalize,
      parse,
      format,
      transcode,
      detect,
      to(format2, data, ...args) {
        return encode(format2, data, ...args);
      },
      from(format2, text, ...args) {
        return decode(format2, text, ...args);
      },
      toString(data, encoding = "utf8") {
        return encode(encoding, data);
      },
      fromString(text, encoding = "utf8") {
        return normalizeEncodingName(encoding) === "hex" ? (0, index_js_1.toArrayBuffer)(index_js_2.hex.decode(text, { allowOddLength: !0 })) : (0, index_js_1.toArrayBuffer)(decode(encoding, text));
      },
      toBase64: index_js_2.base64.encode,
      fromBase64: (text) => (0, index_js_1.toArrayBuffer)(index_js_2.base64.decode(text)),
      toBase64Url: index_js_2.base64url.encode,
      fromBase64Url: (text) => (0, index_js_1.toArrayBuffer)(index_js_2.base64url.decode(text)),
      toHex: index_js_2.hex.encode,
      fromHex: (text) => (0, index_js_1.toArrayBuffer)(index_js_2.hex.decode(text, { allowOddLength: !0 })),
      toBinary: index_js_2.binary.encode,
      fromBinary: (text) => (0, index_js_1.toArrayBuffer)(index_js_2.binary.decode(text)),
      toUtf8String: index_js_2.utf8.decode,
      fromUtf8String: (text) => (0, index_js_1.toArrayBuffer)(index_js_2.utf8.encode(text)),
      toUtf16String: (data, littleEndian = !1) => index_js_2.utf16.decode(data, { littleEndian }),
      fromUtf16String: (text, littleEndian = !1) => (0, index_js_1.toArrayBuffer)(index_js_2.utf16.encode(text, { littleEndian })),
      isHex: index_js_2.hex.is,
      isBase64: index_js_2.base64.is,
      isBase64Url: index_js_2.base64url.is,
      formatString: index_js_2.base64.normalize
    };
  }
});

// node_modules/@peculiar/utils/build/cjs/converters/index.js
var require_converters = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/converters/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.convert = exports.utf8Converter = exports.utf16leConverter = exports.utf16beConverter = exports.pemConverter = exports.hexConverter = exports.defaultConverters = exports.defaultConverterRegistry = exports.binaryConverter = exports.base64urlConverter = exports.base64Converter = exports.createConverterRegistry = void 0;
    var registry_js_1 = require_registry();
    Object.defineProperty(exports, "createConverterRegistry", { enumerable: !0, get: function() {
      return registry_js_1.createConverterRegistry;
    } });
    var defaults_js_1 = require_defaults();
    Object.defineProperty(exports, "base64Converter", { enumerable: !0, get: function() {
      return defaults_js_1.base64Converter;
    } });
    Object.defineProperty(exports, "base64urlConverter", { enumerable: !0, get: function() {
      return defaults_js_1.base64urlConverter;
    } });
    Object.defineProperty(exports, "binaryConverter", { enumerable: !0, get: function() {
      return defaults_js_1.binaryConverter;
    } });
    Object.defineProperty(exports, "defaultConverterRegistry", { enumerable: !0, get: function() {
      return defaults_js_1.defaultConverterRegistry;
    } });
    Object.defineProperty(exports, "defaultConverters", { enumerable: !0, get: function() {
      return defaults_js_1.defaultConverters;
    } });
    Object.defineProperty(exports, "hexConverter", { enumerable: !0, get: function() {
      return defaults_js_1.hexConverter;
    } });
    Object.defineProperty(exports, "pemConverter", { enumerable: !0, get: function() {
      return defaults_js_1.pemConverter;
    } });
    Object.defineProperty(exports, "utf16beConverter", { enumerable: !0, get: function() {
      return defaults_js_1.utf16beConverter;
    } });
    Object.defineProperty(exports, "utf16leConverter", { enumerable: !0, get: function() {
      return defaults_js_1.utf16leConverter;
    } });
    Object.defineProperty(exports, "utf8Converter", { enumerable: !0, get: function() {
      return defaults_js_1.utf8Converter;
    } });
    var convert_js_1 = require_convert();
    Object.defineProperty(exports, "convert", { enumerable: !0, get: function() {
      return convert_js_1.convert;
    } });
  }
});

// node_modules/@peculiar/utils/build/cjs/legacy/buffer-source-converter.js
var require_buffer_source_converter = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/legacy/buffer-source-converter.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.BufferSourceConverter = void 0;
    var index_js_1 = require_bytes(), BufferSourceConverter = class {
      static isArrayBuffer(data) {
        return (0, index_js_1.isArrayBuffer)(data);
      }
      static toArrayBuffer(data) {
        return (0, index_js_1.toArrayBuffer)(data);
      }
      static toUint8Array(data) {
        return (0, index_js_1.toUint8Array)(data);
      }
      static toView(data, type) {
        return (0, index_js_1.toView)(data, type);
      }
      static isBufferSource(data) {
        return (0, index_js_1.isBufferSource)(data);
      }
      static isArrayBufferView(data) {
        return (0, index_js_1.isArrayBufferView)(data);
      }
      static isEqual(a, b) {
        return (0, index_js_1.equal)(a, b);
      }
      static concat(first, second, ...rest) {
        if (Array.isArray(first))
          return typeof second == "function" ? (0, index_js_1.concat)(first, second) : (0, index_js_1.concat)(first);
        let buffers = [first, second, ...rest].filter(Boolean);
        return (0, index_js_1.concat)(buffers);
      }
    };
    exports.BufferSourceConverter = BufferSourceConverter;
  }
});

// node_modules/@peculiar/utils/build/cjs/legacy/convert.js
var require_convert2 = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/legacy/convert.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Convert = void 0;
    var index_js_1 = require_converters();
    function normalizeTextEncoding(encoding) {
      return encoding === "ascii" ? "binary" : encoding;
    }
    var Convert = class _Convert {
      static DEFAULT_UTF8_ENCODING = "utf8";
      static isHex(data) {
        return index_js_1.convert.isHex(data);
      }
      static isBase64(data) {
        return index_js_1.convert.isBase64(data);
      }
      static isBase64Url(data) {
        return index_js_1.convert.isBase64Url(data);
      }
      static ToString(buffer, enc = "utf8") {
        return index_js_1.convert.toString(buffer, enc);
      }
      static FromString(str, enc = "utf8") {
        return str ? index_js_1.convert.fromString(str, enc) : new ArrayBuffer(0);
      }
      static ToBase64(buffer) {
        return index_js_1.convert.toBase64(buffer);
      }
      static FromBase64(base64) {
        return index_js_1.convert.fromBase64(base64);
      }
      static FromBase64Url(base64url) {
        return index_js_1.convert.fromBase64Url(base64url);
      }
      static ToBase64Url(data) {
        return index_js_1.convert.toBase64Url(data);
      }
      static FromUtf8String(text, encoding = _Convert.DEFAULT_UTF8_ENCODING) {
        return index_js_1.convert.fromString(text, normalizeTextEncoding(encoding));
      }
      static ToUtf8String(buffer, encoding = _Convert.DEFAULT_UTF8_ENCODING) {
        return index_js_1.convert.toString(buffer, normalizeTextEncoding(encoding));
      }
      static FromBinary(text) {
        return index_js_1.convert.fromBinary(text);
      }
      static ToBinary(buffer) {
        return index_js_1.convert.toBinary(buffer);
      }
      static ToHex(buffer) {
        return index_js_1.convert.toHex(buffer);
      }
      static FromHex(hexString) {
        return index_js_1.convert.fromHex(hexString);
      }
      static ToUtf16String(buffer, littleEndian = !1) {
        return index_js_1.convert.toUtf16String(buffer, littleEndian);
      }
      static FromUtf16String(text, littleEndian = !1) {
        return index_js_1.convert.fromUtf16String(text, littleEndian);
      }
      static Base64Padding(base64) {
        let padCount = 4 - base64.length % 4;
        return padCount < 4 ? base64 + "=".repeat(padCount) : base64;
      }
      static formatString(data) {
        return index_js_1.convert.formatString(data);
      }
    };
    exports.Convert = Convert;
  }
});

// node_modules/@peculiar/utils/build/cjs/legacy/functions.js
var require_functions = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/legacy/functions.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.assign = assign;
    exports.combine = combine;
    exports.isEqual = isEqual;
    var index_js_1 = require_bytes();
    function assign(target, ...sources) {
      for (let source of sources)
        if (source)
          for (let prop in source)
            target[prop] = source[prop];
      return target;
    }
    function combine(...buf) {
      return (0, index_js_1.concat)(buf);
    }
    function isEqual(bytes1, bytes2) {
      return (0, index_js_1.equal)(bytes1, bytes2);
    }
  }
});

// node_modules/@peculiar/utils/build/cjs/legacy/index.js
var require_legacy = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/legacy/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.isEqual = exports.combine = exports.assign = exports.Convert = exports.BufferSourceConverter = void 0;
    var buffer_source_converter_js_1 = require_buffer_source_converter();
    Object.defineProperty(exports, "BufferSourceConverter", { enumerable: !0, get: function() {
      return buffer_source_converter_js_1.BufferSourceConverter;
    } });
    var convert_js_1 = require_convert2();
    Object.defineProperty(exports, "Convert", { enumerable: !0, get: function() {
      return convert_js_1.Convert;
    } });
    var functions_js_1 = require_functions();
    Object.defineProperty(exports, "assign", { enumerable: !0, get: function() {
      return functions_js_1.assign;
    } });
    Object.defineProperty(exports, "combine", { enumerable: !0, get: function() {
      return functions_js_1.combine;
    } });
    Object.defineProperty(exports, "isEqual", { enumerable: !0, get: function() {
      return functions_js_1.isEqual;
    } });
  }
});

// node_modules/@peculiar/utils/build/cjs/index.js
var require_cjs = __commonJS({
  "node_modules/@peculiar/utils/build/cjs/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.bytes = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    tslib_1.__exportStar(require_bytes(), exports);
    exports.bytes = tslib_1.__importStar(require_bytes());
    tslib_1.__exportStar(require_encoding(), exports);
    tslib_1.__exportStar(require_pem2(), exports);
    tslib_1.__exportStar(require_converters(), exports);
    tslib_1.__exportStar(require_legacy(), exports);
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/enums.js
var require_enums = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/enums.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnPropTypes = exports.AsnTypeTypes = void 0;
    var AsnTypeTypes;
    (function(AsnTypeTypes2) {
      AsnTypeTypes2[AsnTypeTypes2.Sequence = 0] = "Sequence", AsnTypeTypes2[AsnTypeTypes2.Set = 1] = "Set", AsnTypeTypes2[AsnTypeTypes2.Choice = 2] = "Choice";
    })(AsnTypeTypes || (exports.AsnTypeTypes = AsnTypeTypes = {}));
    var AsnPropTypes;
    (function(AsnPropTypes2) {
      AsnPropTypes2[AsnPropTypes2.Any = 1] = "Any", AsnPropTypes2[AsnPropTypes2.Boolean = 2] = "Boolean", AsnPropTypes2[AsnPropTypes2.OctetString = 3] = "OctetString", AsnPropTypes2[AsnPropTypes2.BitString = 4] = "BitString", AsnPropTypes2[AsnPropTypes2.Integer = 5] = "Integer", AsnPropTypes2[AsnPropTypes2.Enumerated = 6] = "Enumerated", AsnPropTypes2[AsnPropTypes2.ObjectIdentifier = 7] = "ObjectIdentifier", AsnPropTypes2[AsnPropTypes2.Utf8String = 8] = "Utf8String", AsnPropTypes2[AsnPropTypes2.BmpString = 9] = "BmpString", AsnPropTypes2[AsnPropTypes2.UniversalString = 10] = "UniversalString", AsnPropTypes2[AsnPropTypes2.NumericString = 11] = "NumericString", AsnPropTypes2[AsnPropTypes2.PrintableString = 12] = "PrintableString", AsnPropTypes2[AsnPropTypes2.TeletexString = 13] = "TeletexString", AsnPropTypes2[AsnPropTypes2.VideotexString = 14] = "VideotexString", AsnPropTypes2[AsnPropTypes2.IA5String = 15] = "IA5String", AsnPropTypes2[AsnPropTypes2.GraphicString = 16] = "GraphicString", AsnPropTypes2[AsnPropTypes2.VisibleString = 17] = "VisibleString", AsnPropTypes2[AsnPropTypes2.GeneralString = 18] = "GeneralString", AsnPropTypes2[AsnPropTypes2.CharacterString = 19] = "CharacterString", AsnPropTypes2[AsnPropTypes2.UTCTime = 20] = "UTCTime", AsnPropTypes2[AsnPropTypes2.GeneralizedTime = 21] = "GeneralizedTime", AsnPropTypes2[AsnPropTypes2.DATE = 22] = "DATE", AsnPropTypes2[AsnPropTypes2.TimeOfDay = 23] = "TimeOfDay", AsnPropTypes2[AsnPropTypes2.DateTime = 24] = "DateTime", AsnPropTypes2[AsnPropTypes2.Duration = 25] = "Duration", AsnPropTypes2[AsnPropTypes2.TIME = 26] = "TIME", AsnPropTypes2[AsnPropTypes2.Null = 27] = "Null", AsnPropTypes2[AsnPropTypes2.RelativeObjectIdentifier = 28] = "RelativeObjectIdentifier";
    })(AsnPropTypes || (exports.AsnPropTypes = AsnPropTypes = {}));
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/types/bit_string.js
var require_bit_string = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/types/bit_string.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.BitString = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), utils_1 = require_cjs(), BitString = class {
      unusedBits = 0;
      value = new ArrayBuffer(0);
      constructor(params, unusedBits = 0) {
        if (params)
          if (typeof params == "number")
            this.fromNumber(params);
          else if ((0, utils_1.isBufferSource)(params))
            this.unusedBits = unusedBits, this.value = (0, utils_1.toArrayBuffer)(params);
          else
            throw TypeError("Unsupported type of 'params' argument for BitString");
      }
      fromASN(asn) {
        if (!(asn instanceof asn1js.BitString))
          throw new TypeError("Argument 'asn' is not instance of ASN.1 BitString");
        return this.unusedBits = asn.valueBlock.unusedBits, this.value = (0, utils_1.toArrayBuffer)(asn.valueBlock.valueHex), this;
      }
      toASN() {
        return new asn1js.BitString({
          unusedBits: this.unusedBits,
          valueHex: this.value
        });
      }
      toSchema(name) {
        return new asn1js.BitString({ name });
      }
      toNumber() {
        let res = "", uintArray = new Uint8Array(this.value);
        for (let octet of uintArray)
          res += octet.toString(2).padStart(8, "0");
        return res = res.split("").reverse().join(""), this.unusedBits && (res = res.slice(this.unusedBits).padStart(this.unusedBits, "0")), parseInt(res, 2);
      }
      fromNumber(value) {
        let bits = value.toString(2), octetSize = bits.length + 7 >> 3;
        this.unusedBits = (octetSize << 3) - bits.length;
        let octets = new Uint8Array(octetSize);
        bits = bits.padStart(octetSize << 3, "0").split("").reverse().join("");
        let index = 0;
        for (; index < octetSize; )
          octets[index] = parseInt(bits.slice(index << 3, (index << 3) + 8), 2), index++;
        this.value = octets.buffer;
      }
    };
    exports.BitString = BitString;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/types/octet_string.js
var require_octet_string = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/types/octet_string.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.OctetString = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), utils_1 = require_cjs(), OctetString2 = class {
      buffer;
      get byteLength() {
        return this.buffer.byteLength;
      }
      get byteOffset() {
        return 0;
      }
      constructor(param) {
        typeof param == "number" ? this.buffer = new ArrayBuffer(param) : (0, utils_1.isBufferSource)(param) ? this.buffer = (0, utils_1.toArrayBuffer)(param) : Array.isArray(param) ? this.buffer = new Uint8Array(param).buffer : this.buffer = new ArrayBuffer(0);
      }
      fromASN(asn) {
        if (!(asn instanceof asn1js.OctetString))
          throw new TypeError("Argument 'asn' is not instance of ASN.1 OctetString");
        return this.buffer = (0, utils_1.toArrayBuffer)(asn.valueBlock.valueHex), this;
      }
      toASN() {
        return new asn1js.OctetString({ valueHex: this.buffer });
      }
      toSchema(name) {
        return new asn1js.OctetString({ name });
      }
    };
    exports.OctetString = OctetString2;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/types/index.js
var require_types = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/types/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    tslib_1.__exportStar(require_bit_string(), exports);
    tslib_1.__exportStar(require_octet_string(), exports);
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/converters.js
var require_converters2 = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/converters.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnNullConverter = exports.AsnGeneralizedTimeConverter = exports.AsnUTCTimeConverter = exports.AsnCharacterStringConverter = exports.AsnGeneralStringConverter = exports.AsnVisibleStringConverter = exports.AsnGraphicStringConverter = exports.AsnIA5StringConverter = exports.AsnVideotexStringConverter = exports.AsnTeletexStringConverter = exports.AsnPrintableStringConverter = exports.AsnNumericStringConverter = exports.AsnUniversalStringConverter = exports.AsnBmpStringConverter = exports.AsnUtf8StringConverter = exports.AsnConstructedOctetStringConverter = exports.AsnOctetStringConverter = exports.AsnBooleanConverter = exports.AsnRelativeObjectIdentifierConverter = exports.AsnObjectIdentifierConverter = exports.AsnBitStringConverter = exports.AsnIntegerBigIntConverter = exports.AsnIntegerArrayBufferConverter = exports.AsnEnumeratedConverter = exports.AsnIntegerConverter = exports.AsnAnyConverter = void 0;
    exports.defaultConverter = defaultConverter;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), utils_1 = require_cjs(), enums_1 = require_enums(), index_1 = require_types();
    exports.AsnAnyConverter = {
      fromASN: (value) => value instanceof asn1js.Null ? null : (0, utils_1.toArrayBuffer)(value.valueBeforeDecodeView),
      toASN: (value) => {
        if (value === null)
          return new asn1js.Null();
        let schema = asn1js.fromBER(value, { maxDepth: 1 / 0, maxNodes: 1 / 0, maxContentLength: 1 / 0 });
        if (schema.result.error)
          throw new Error(schema.result.error);
        return schema.result;
      }
    };
    exports.AsnIntegerConverter = {
      fromASN: (value) => value.valueBlock.valueHexView.byteLength >= 4 ? value.valueBlock.toString() : value.valueBlock.valueDec,
      toASN: (value) => new asn1js.Integer({ value: +value })
    };
    exports.AsnEnumeratedConverter = {
      fromASN: (value) => value.valueBlock.valueDec,
      toASN: (value) => new asn1js.Enumerated({ value })
    };
    exports.AsnIntegerArrayBufferConverter = {
      fromASN: (value) => (0, utils_1.toArrayBuffer)(value.valueBlock.valueHexView),
      toASN: (value) => new asn1js.Integer({ valueHex: value })
    };
    exports.AsnIntegerBigIntConverter = {
      fromASN: (value) => value.toBigInt(),
      toASN: (value) => asn1js.Integer.fromBigInt(value)
    };
    exports.AsnBitStringConverter = {
      fromASN: (value) => (0, utils_1.toArrayBuffer)(value.valueBlock.valueHexView),
      toASN: (value) => new asn1js.BitString({ valueHex: value })
    };
    exports.AsnObjectIdentifierConverter = {
      fromASN: (value) => value.valueBlock.toString(),
      toASN: (value) => new asn1js.ObjectIdentifier({ value })
    };
    exports.AsnRelativeObjectIdentifierConverter = {
      fromASN: (value) => value.valueBlock.toString(),
      toASN: (value) => new asn1js.RelativeObjectIdentifier({ value })
    };
    exports.AsnBooleanConverter = {
      fromASN: (value) => value.valueBlock.value,
      toASN: (value) => new asn1js.Boolean({ value })
    };
    exports.AsnOctetStringConverter = {
      fromASN: (value) => (0, utils_1.toArrayBuffer)(value.valueBlock.valueHexView),
      toASN: (value) => new asn1js.OctetString({ valueHex: value })
    };
    exports.AsnConstructedOctetStringConverter = {
      fromASN: (value) => new index_1.OctetString(value.getValue()),
      toASN: (value) => value.toASN()
    };
    function createStringConverter(Asn1Type) {
      return {
        fromASN: (value) => value.valueBlock.value,
        toASN: (value) => new Asn1Type({ value })
      };
    }
    exports.AsnUtf8StringConverter = createStringConverter(asn1js.Utf8String);
    exports.AsnBmpStringConverter = createStringConverter(asn1js.BmpString);
    exports.AsnUniversalStringConverter = createStringConverter(asn1js.UniversalString);
    exports.AsnNumericStringConverter = createStringConverter(asn1js.NumericString);
    exports.AsnPrintableStringConverter = createStringConverter(asn1js.PrintableString);
    exports.AsnTeletexStringConverter = createStringConverter(asn1js.TeletexString);
    exports.AsnVideotexStringConverter = createStringConverter(asn1js.VideotexString);
    exports.AsnIA5StringConverter = createStringConverter(asn1js.IA5String);
    exports.AsnGraphicStringConverter = createStringConverter(asn1js.GraphicString);
    exports.AsnVisibleStringConverter = createStringConverter(asn1js.VisibleString);
    exports.AsnGeneralStringConverter = createStringConverter(asn1js.GeneralString);
    exports.AsnCharacterStringConverter = createStringConverter(asn1js.CharacterString);
    exports.AsnUTCTimeConverter = {
      fromASN: (value) => value.toDate(),
      toASN: (value) => new asn1js.UTCTime({ valueDate: value })
    };
    exports.AsnGeneralizedTimeConverter = {
      fromASN: (value) => value.toDate(),
      toASN: (value) => new asn1js.GeneralizedTime({ valueDate: value })
    };
    exports.AsnNullConverter = {
      fromASN: () => null,
      toASN: () => new asn1js.Null()
    };
    function defaultConverter(type) {
      switch (type) {
        case enums_1.AsnPropTypes.Any:
          return exports.AsnAnyConverter;
        case enums_1.AsnPropTypes.BitString:
          return exports.AsnBitStringConverter;
        case enums_1.AsnPropTypes.BmpString:
          return exports.AsnBmpStringConverter;
        case enums_1.AsnPropTypes.Boolean:
          return exports.AsnBooleanConverter;
        case enums_1.AsnPropTypes.CharacterString:
          return exports.AsnCharacterStringConverter;
        case enums_1.AsnPropTypes.Enumerated:
          return exports.AsnEnumeratedConverter;
        case enums_1.AsnPropTypes.GeneralString:
          return exports.AsnGeneralStringConverter;
        case enums_1.AsnPropTypes.GeneralizedTime:
          return exports.AsnGeneralizedTimeConverter;
        case enums_1.AsnPropTypes.GraphicString:
          return exports.AsnGraphicStringConverter;
        case enums_1.AsnPropTypes.IA5String:
          return exports.AsnIA5StringConverter;
        case enums_1.AsnPropTypes.Integer:
          return exports.AsnIntegerConverter;
        case enums_1.AsnPropTypes.Null:
          return exports.AsnNullConverter;
        case enums_1.AsnPropTypes.NumericString:
          return exports.AsnNumericStringConverter;
        case enums_1.AsnPropTypes.ObjectIdentifier:
          return exports.AsnObjectIdentifierConverter;
        case enums_1.AsnPropTypes.RelativeObjectIdentifier:
          return exports.AsnRelativeObjectIdentifierConverter;
        case enums_1.AsnPropTypes.OctetString:
          return exports.AsnOctetStringConverter;
        case enums_1.AsnPropTypes.PrintableString:
          return exports.AsnPrintableStringConverter;
        case enums_1.AsnPropTypes.TeletexString:
          return exports.AsnTeletexStringConverter;
        case enums_1.AsnPropTypes.UTCTime:
          return exports.AsnUTCTimeConverter;
        case enums_1.AsnPropTypes.UniversalString:
          return exports.AsnUniversalStringConverter;
        case enums_1.AsnPropTypes.Utf8String:
          return exports.AsnUtf8StringConverter;
        case enums_1.AsnPropTypes.VideotexString:
          return exports.AsnVideotexStringConverter;
        case enums_1.AsnPropTypes.VisibleString:
          return exports.AsnVisibleStringConverter;
        default:
          return null;
      }
    }
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/helper.js
var require_helper = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/helper.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.isConvertible = isConvertible;
    exports.isTypeOfArray = isTypeOfArray;
    exports.isArrayEqual = isArrayEqual;
    function isConvertible(target) {
      return typeof target == "function" && target.prototype ? target.prototype.toASN && target.prototype.fromASN ? !0 : isConvertible(target.prototype) : !!(target && typeof target == "object" && "toASN" in target && "fromASN" in target);
    }
    function isTypeOfArray(target) {
      if (target) {
        let proto = Object.getPrototypeOf(target);
        return proto?.prototype?.constructor === Array ? !0 : isTypeOfArray(proto);
      }
      return !1;
    }
    function isArrayEqual(bytes1, bytes2) {
      if (!(bytes1 && bytes2) || bytes1.byteLength !== bytes2.byteLength)
        return !1;
      let b1 = new Uint8Array(bytes1), b2 = new Uint8Array(bytes2);
      for (let i = 0; i < bytes1.byteLength; i++)
        if (b1[i] !== b2[i])
          return !1;
      return !0;
    }
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/schema.js
var require_schema = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/schema.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnSchemaStorage = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), enums_1 = require_enums(), helper_1 = require_helper(), AsnSchemaStorage = class {
      items = /* @__PURE__ */ new WeakMap();
      has(target) {
        return this.items.has(target);
      }
      get(target, checkSchema = !1) {
        let schema = this.items.get(target);
        if (!schema)
          throw new Error(`Cannot get schema for '${target.prototype.constructor.name}' target`);
        if (checkSchema && !schema.schema)
          throw new Error(`Schema '${target.prototype.constructor.name}' doesn't contain ASN.1 schema. Call 'AsnSchemaStorage.cache'.`);
        return schema;
      }
      cache(target) {
        let schema = this.get(target);
        schema.schema || (schema.schema = this.create(target, !0));
      }
      createDefault(target) {
        let schema = {
          type: enums_1.AsnTypeTypes.Sequence,
          items: {}
        }, parentSchema = this.findParentSchema(target);
        return parentSchema && (Object.assign(schema, parentSchema), schema.items = Object.assign({}, schema.items, parentSchema.items)), schema;
      }
      create(target, useNames) {
        let schema = this.items.get(target) || this.createDefault(target), asn1Value = [];
        for (let key in schema.items) {
          let item = schema.items[key], name = useNames ? key : "", asn1Item;
          if (typeof item.type == "number") {
            let Asn1TypeName = enums_1.AsnPropTypes[item.type], Asn1Type = asn1js[Asn1TypeName];
            if (!Asn1Type)
              throw new Error(`Cannot get ASN1 class by name '${Asn1TypeName}'`);
            asn1Item = new Asn1Type({ name });
          } else (0, helper_1.isConvertible)(item.type) ? asn1Item = new item.type().toSchema(name) : item.optional ? this.get(item.type).type === enums_1.AsnTypeTypes.Choice ? asn1Item = new asn1js.Any({ name }) : (asn1Item = this.create(item.type, !1), asn1Item.name = name) : asn1Item = new asn1js.Any({ name });
          let optional = !!item.optional || item.defaultValue !== void 0;
          if (item.repeated) {
            asn1Item.name = "";
            let Container = item.repeated === "set" ? asn1js.Set : asn1js.Sequence;
            asn1Item = new Container({
              name: "",
              value: [
                new asn1js.Repeated({
                  name,
                  value: asn1Item
                })
              ]
            });
          }
          if (item.context !== null && item.context !== void 0)
            if (item.implicit)
              if (typeof item.type == "number" || (0, helper_1.isConvertible)(item.type)) {
                let Container = item.repeated ? asn1js.Constructed : asn1js.Primitive;
                asn1Value.push(new Container({
                  name,
                  optional,
                  idBlock: {
                    tagClass: 3,
                    tagNumber: item.context
                  }
                }));
              } else {
                this.cache(item.type);
                let isRepeated = !!item.repeated, value = isRepeated ? asn1Item : this.get(item.type, !0).schema;
                value = "valueBlock" in value ? value.valueBlock.value : value.value, asn1Value.push(new asn1js.Constructed({
                  name: isRepeated ? "" : name,
                  optional,
                  idBlock: {
                    tagClass: 3,
                    tagNumber: item.context
                  },
                  value
                }));
              }
            else
              asn1Value.push(new asn1js.Constructed({
                optional,
                idBlock: {
                  tagClass: 3,
                  tagNumber: item.context
                },
                value: [asn1Item]
              }));
          else
            asn1Item.optional = optional, asn1Value.push(asn1Item);
        }
        switch (schema.type) {
          case enums_1.AsnTypeTypes.Sequence:
            return new asn1js.Sequence({
              value: asn1Value,
              name: ""
            });
          case enums_1.AsnTypeTypes.Set:
            return new asn1js.Set({
              value: asn1Value,
              name: ""
            });
          case enums_1.AsnTypeTypes.Choice:
            return new asn1js.Choice({
              value: asn1Value,
              name: ""
            });
          default:
            throw new Error("Unsupported ASN1 type in use");
        }
      }
      set(target, schema) {
        return this.items.set(target, schema), this;
      }
      findParentSchema(target) {
        let parent = Object.getPrototypeOf(target);
        return parent ? this.items.get(parent) || this.findParentSchema(parent) : null;
      }
    };
    exports.AsnSchemaStorage = AsnSchemaStorage;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/storage.js
var require_storage = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/storage.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.schemaStorage = void 0;
    var schema_1 = require_schema();
    exports.schemaStorage = new schema_1.AsnSchemaStorage();
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/decorators.js
var require_decorators = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/decorators.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnProp = exports.AsnSequenceType = exports.AsnSetType = exports.AsnChoiceType = exports.AsnType = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), converters = tslib_1.__importStar(require_converters2()), enums_1 = require_enums(), storage_1 = require_storage(), AsnType = (options) => (target) => {
      let schema;
      storage_1.schemaStorage.has(target) ? schema = storage_1.schemaStorage.get(target) : (schema = storage_1.schemaStorage.createDefault(target), storage_1.schemaStorage.set(target, schema)), Object.assign(schema, options);
    };
    exports.AsnType = AsnType;
    var AsnChoiceType = () => (0, exports.AsnType)({ type: enums_1.AsnTypeTypes.Choice });
    exports.AsnChoiceType = AsnChoiceType;
    var AsnSetType = (options) => (0, exports.AsnType)({
      type: enums_1.AsnTypeTypes.Set,
      ...options
    });
    exports.AsnSetType = AsnSetType;
    var AsnSequenceType = (options) => (0, exports.AsnType)({
      type: enums_1.AsnTypeTypes.Sequence,
      ...options
    });
    exports.AsnSequenceType = AsnSequenceType;
    var AsnProp = (options) => (target, propertyKey) => {
      let schema;
      storage_1.schemaStorage.has(target.constructor) ? schema = storage_1.schemaStorage.get(target.constructor) : (schema = storage_1.schemaStorage.createDefault(target.constructor), storage_1.schemaStorage.set(target.constructor, schema));
      let copyOptions = Object.assign({}, options);
      if (typeof copyOptions.type == "number" && !copyOptions.converter) {
        let defaultConverter = converters.defaultConverter(options.type);
        if (!defaultConverter)
          throw new Error(`Cannot get default converter for property '${propertyKey}' of ${target.constructor.name}`);
        copyOptions.converter = defaultConverter;
      }
      copyOptions.raw = options.raw, schema.items[propertyKey] = copyOptions;
    };
    exports.AsnProp = AsnProp;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/errors/schema_validation.js
var require_schema_validation = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/errors/schema_validation.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnSchemaValidationError = void 0;
    var AsnSchemaValidationError = class extends Error {
      schemas = [];
    };
    exports.AsnSchemaValidationError = AsnSchemaValidationError;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/errors/index.js
var require_errors = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/errors/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    tslib_1.__exportStar(require_schema_validation(), exports);
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/parser.js
var require_parser = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/parser.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnParser = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), utils_1 = require_cjs(), enums_1 = require_enums(), converters = tslib_1.__importStar(require_converters2()), errors_1 = require_errors(), helper_1 = require_helper(), storage_1 = require_storage(), AsnParser = class {
      static parse(data, target, options) {
        let asn1Parsed = asn1js.fromBER((0, utils_1.toArrayBuffer)(data), options?.berOptions);
        if (asn1Parsed.result.error)
          throw new Error(asn1Parsed.result.error);
        return this.fromASN(asn1Parsed.result, target, options);
      }
      static fromASN(asn1Schema, target, options) {
        try {
          if ((0, helper_1.isConvertible)(target))
            return new target().fromASN(asn1Schema);
          let schema = storage_1.schemaStorage.get(target);
          storage_1.schemaStorage.cache(target);
          let targetSchema = schema.schema, choiceResult = this.handleChoiceTypes(asn1Schema, schema, target, targetSchema, options);
          if (choiceResult?.result)
            return choiceResult.result;
          choiceResult?.targetSchema && (targetSchema = choiceResult.targetSchema);
          let sequenceResult = this.handleSequenceTypes(asn1Schema, schema, target, targetSchema), res = new target();
          return (0, helper_1.isTypeOfArray)(target) ? this.handleArrayTypes(asn1Schema, schema, target, options) : (this.processSchemaItems(schema, sequenceResult, res, options), res);
        } catch (error) {
          throw error instanceof errors_1.AsnSchemaValidationError && error.schemas.push(target.name), error;
        }
      }
      static handleChoiceTypes(asn1Schema, schema, target, targetSchema, options) {
        if (asn1Schema.constructor === asn1js.Constructed && schema.type === enums_1.AsnTypeTypes.Choice && asn1Schema.idBlock.tagClass === 3)
          for (let key in schema.items) {
            let schemaItem = schema.items[key];
            if (schemaItem.context === asn1Schema.idBlock.tagNumber && schemaItem.implicit && typeof schemaItem.type == "function" && storage_1.schemaStorage.has(schemaItem.type)) {
              let fieldSchema = storage_1.schemaStorage.get(schemaItem.type);
              if (fieldSchema && fieldSchema.type === enums_1.AsnTypeTypes.Sequence) {
                let newSeq = new asn1js.Sequence();
                if ("value" in asn1Schema.valueBlock && Array.isArray(asn1Schema.valueBlock.value) && "value" in newSeq.valueBlock) {
                  newSeq.valueBlock.value = asn1Schema.valueBlock.value;
                  let fieldValue = this.fromASN(newSeq, schemaItem.type, options), res = new target();
                  return res[key] = fieldValue, { result: res };
                }
              }
            }
          }
        else if (asn1Schema.constructor === asn1js.Constructed && schema.type !== enums_1.AsnTypeTypes.Choice) {
          let newTargetSchema = new asn1js.Constructed({
            idBlock: {
              tagClass: 3,
              tagNumber: asn1Schema.idBlock.tagNumber
            },
            value: schema.schema.valueBlock.value
          });
          for (let key in schema.items)
            delete asn1Schema[key];
          return { targetSchema: newTargetSchema };
        }
        return null;
      }
      static handleSequenceTypes(asn1Schema, schema, target, targetSchema) {
        if (schema.type === enums_1.AsnTypeTypes.Sequence) {
          let asn1ComparedSchema = asn1js.compareSchema({}, asn1Schema, targetSchema);
          if (!asn1ComparedSchema.verified)
            throw new errors_1.AsnSchemaValidationError(`Data does not match to ${target.name} ASN1 schema.${asn1ComparedSchema.result.error ? ` ${asn1ComparedSchema.result.error}` : ""}`);
          return asn1ComparedSchema;
        } else {
          let asn1ComparedSchema = asn1js.compareSchema({}, asn1Schema, targetSchema);
          if (!asn1ComparedSchema.verified)
            throw new errors_1.AsnSchemaValidationError(`Data does not match to ${target.name} ASN1 schema.${asn1ComparedSchema.result.error ? ` ${asn1ComparedSchema.result.error}` : ""}`);
          return asn1ComparedSchema;
        }
      }
      static processRepeatedField(asn1Elements, asn1Index, schemaItem) {
        let elementsToProcess = asn1Elements.slice(asn1Index);
        if (elementsToProcess.length === 1 && elementsToProcess[0].constructor.name === "Sequence") {
          let seq = elementsToProcess[0];
          seq.valueBlock && seq.valueBlock.value && Array.isArray(seq.valueBlock.value) && (elementsToProcess = seq.valueBlock.value);
        }
        if (typeof schemaItem.type == "number") {
          let converter = converters.defaultConverter(schemaItem.type);
          if (!converter)
            throw new Error(`No converter for ASN.1 type ${schemaItem.type}`);
          return elementsToProcess.filter((el) => el && el.valueBlock).map((el) => {
            try {
              return converter.fromASN(el);
            } catch {
              return;
            }
          }).filter((v) => v !== void 0);
        } else
          return elementsToProcess.filter((el) => el && el.valueBlock).map((el) => {
            try {
              return this.fromASN(el, schemaItem.type);
            } catch {
              return;
            }
          }).filter((v) => v !== void 0);
      }
      static processPrimitiveField(asn1Element, schemaItem) {
        let converter = converters.defaultConverter(schemaItem.type);
        if (!converter)
          throw new Error(`No converter for ASN.1 type ${schemaItem.type}`);
        return converter.fromASN(asn1Element);
      }
      static isOptionalChoiceField(schemaItem) {
        return schemaItem.optional && typeof schemaItem.type == "function" && storage_1.schemaStorage.has(schemaItem.type) && storage_1.schemaStorage.get(schemaItem.type).type === enums_1.AsnTypeTypes.Choice;
      }
      static processOptionalChoiceField(asn1Element, schemaItem) {
        try {
          return {
            processed: !0,
            value: this.fromASN(asn1Element, schemaItem.type)
          };
        } catch (err) {
          if (err instanceof errors_1.AsnSchemaValidationError && /Wrong values for Choice type/.test(err.message))
            return { processed: !1 };
          throw err;
        }
      }
      static handleArrayTypes(asn1Schema, schema, target, options) {
        if (!("value" in asn1Schema.valueBlock && Array.isArray(asn1Schema.valueBlock.value)))
          throw new Error("Cannot get items from the ASN.1 parsed value. ASN.1 object is not constructed.");
        let itemType = schema.itemType;
        if (typeof itemType == "number") {
          let converter = converters.defaultConverter(itemType);
          if (!converter)
            throw new Error(`Cannot get default converter for array item of ${target.name} ASN1 schema`);
          return target.from(asn1Schema.valueBlock.value, (element) => converter.fromASN(element));
        } else
          return target.from(asn1Schema.valueBlock.value, (element) => this.fromASN(element, itemType, options));
      }
      static processSchemaItems(schema, asn1ComparedSchema, res, options) {
        for (let key in schema.items) {
          let asn1SchemaValue = asn1ComparedSchema.result[key];
          if (!asn1SchemaValue)
            continue;
          let schemaItem = schema.items[key], schemaItemType = schemaItem.type, parsedValue;
          typeof schemaItemType == "number" || (0, helper_1.isConvertible)(schemaItemType) ? parsedValue = this.processPrimitiveSchemaItem(asn1SchemaValue, schemaItem, schemaItemType, options) : parsedValue = this.processComplexSchemaItem(asn1SchemaValue, schemaItem, schemaItemType, options), parsedValue && typeof parsedValue == "object" && "value" in parsedValue && "raw" in parsedValue ? (res[key] = parsedValue.value, res[`${key}Raw`] = parsedValue.raw) : res[key] = parsedValue;
        }
      }
      static processPrimitiveSchemaItem(asn1SchemaValue, schemaItem, schemaItemType, options) {
        let converter = schemaItem.converter ?? ((0, helper_1.isConvertible)(schemaItemType) ? new schemaItemType() : null);
        if (!converter)
          throw new Error("Converter is empty");
        return schemaItem.repeated ? this.processRepeatedPrimitiveItem(asn1SchemaValue, schemaItem, converter, options) : this.processSinglePrimitiveItem(asn1SchemaValue, schemaItem, schemaItemType, converter, options);
      }
      static processRepeatedPrimitiveItem(asn1SchemaValue, schemaItem, converter, options) {
        if (schemaItem.implicit) {
          let Container = schemaItem.repeated === "sequence" ? asn1js.Sequence : asn1js.Set, newItem = new Container();
          newItem.valueBlock = asn1SchemaValue.valueBlock;
          let newItemAsn = asn1js.fromBER(newItem.toBER(!1), options?.berOptions);
          if (newItemAsn.offset === -1)
            throw new Error(`Cannot parse the child item. ${newItemAsn.result.error}`);
          if (!("value" in newItemAsn.result.valueBlock && Array.isArray(newItemAsn.result.valueBlock.value)))
            throw new Error("Cannot get items from the ASN.1 parsed value. ASN.1 object is not constructed.");
          let value = newItemAsn.result.valueBlock.value;
          return Array.from(value, (element) => converter.fromASN(element));
        } else
          return Array.from(asn1SchemaValue, (element) => converter.fromASN(element));
      }
      static processSinglePrimitiveItem(asn1SchemaValue, schemaItem, schemaItemType, converter, options) {
        let value = asn1SchemaValue;
        if (schemaItem.implicit) {
          let newItem;
          if ((0, helper_1.isConvertible)(schemaItemType))
            newItem = new schemaItemType().toSchema("");
          else {
            let Asn1TypeName = enums_1.AsnPropTypes[schemaItemType], Asn1Type = asn1js[Asn1TypeName];
            if (!Asn1Type)
              throw new Error(`Cannot get '${Asn1TypeName}' class from asn1js module`);
            newItem = new Asn1Type();
          }
          newItem.valueBlock = value.valueBlock, value = asn1js.fromBER(newItem.toBER(!1), options?.berOptions).result;
        }
        return converter.fromASN(value);
      }
      static processComplexSchemaItem(asn1SchemaValue, schemaItem, schemaItemType, options) {
        if (schemaItem.repeated) {
          if (!Array.isArray(asn1SchemaValue))
            throw new Error("Cannot get list of items from the ASN.1 parsed value. ASN.1 value should be iterable.");
          return Array.from(asn1SchemaValue, (element) => this.fromASN(element, schemaItemType, options));
        } else {
          let valueToProcess = this.handleImplicitTagging(asn1SchemaValue, schemaItem, schemaItemType);
          if (this.isOptionalChoiceField(schemaItem))
            try {
              return this.fromASN(valueToProcess, schemaItemType, options);
            } catch (err) {
              if (err instanceof errors_1.AsnSchemaValidationError && /Wrong values for Choice type/.test(err.message))
                return;
              throw err;
            }
          else {
            let parsedValue = this.fromASN(valueToProcess, schemaItemType, options);
            return schemaItem.raw ? {
              value: parsedValue,
              raw: asn1SchemaValue.valueBeforeDecodeView
            } : parsedValue;
          }
        }
      }
      static handleImplicitTagging(asn1SchemaValue, schemaItem, schemaItemType) {
        if (schemaItem.implicit && typeof schemaItem.context == "number") {
          let schema = storage_1.schemaStorage.get(schemaItemType);
          if (schema.type === enums_1.AsnTypeTypes.Sequence) {
            let newSeq = new asn1js.Sequence();
            if ("value" in asn1SchemaValue.valueBlock && Array.isArray(asn1SchemaValue.valueBlock.value) && "value" in newSeq.valueBlock)
              return newSeq.valueBlock.value = asn1SchemaValue.valueBlock.value, newSeq;
          } else if (schema.type === enums_1.AsnTypeTypes.Set) {
            let newSet = new asn1js.Set();
            if ("value" in asn1SchemaValue.valueBlock && Array.isArray(asn1SchemaValue.valueBlock.value) && "value" in newSet.valueBlock)
              return newSet.valueBlock.value = asn1SchemaValue.valueBlock.value, newSet;
          }
        }
        return asn1SchemaValue;
      }
    };
    exports.AsnParser = AsnParser;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/serializer.js
var require_serializer = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/serializer.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnSerializer = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), utils_1 = require_cjs(), converters = tslib_1.__importStar(require_converters2()), enums_1 = require_enums(), helper_1 = require_helper(), storage_1 = require_storage(), AsnSerializer = class _AsnSerializer {
      static serialize(obj) {
        return obj instanceof asn1js.BaseBlock ? obj.toBER(!1) : this.toASN(obj).toBER(!1);
      }
      static toASN(obj) {
        if (obj && typeof obj == "object" && (0, helper_1.isConvertible)(obj))
          return obj.toASN();
        if (!(obj && typeof obj == "object"))
          throw new TypeError("Parameter 1 should be type of Object.");
        let target = obj.constructor, schema = storage_1.schemaStorage.get(target);
        storage_1.schemaStorage.cache(target);
        let asn1Value = [];
        if (schema.itemType) {
          if (!Array.isArray(obj))
            throw new TypeError("Parameter 1 should be type of Array.");
          if (typeof schema.itemType == "number") {
            let converter = converters.defaultConverter(schema.itemType);
            if (!converter)
              throw new Error(`Cannot get default converter for array item of ${target.name} ASN1 schema`);
            asn1Value = obj.map((o) => converter.toASN(o));
          } else
            asn1Value = obj.map((o) => this.toAsnItem({ type: schema.itemType }, "[]", target, o));
        } else
          for (let key in schema.items) {
            let schemaItem = schema.items[key], objProp = obj[key];
            if (objProp === void 0 || schemaItem.defaultValue === objProp || typeof schemaItem.defaultValue == "object" && typeof objProp == "object" && (0, helper_1.isArrayEqual)(this.serialize(schemaItem.defaultValue), this.serialize(objProp)))
              continue;
            let asn1Item = _AsnSerializer.toAsnItem(schemaItem, key, target, objProp);
            if (typeof schemaItem.context == "number")
              if (schemaItem.implicit)
                if (!schemaItem.repeated && (typeof schemaItem.type == "number" || (0, helper_1.isConvertible)(schemaItem.type))) {
                  let value = {};
                  value.valueHex = asn1Item instanceof asn1js.Null ? (0, utils_1.toArrayBuffer)(asn1Item.valueBeforeDecodeView) : asn1Item.valueBlock.toBER(), asn1Value.push(new asn1js.Primitive({
                    optional: schemaItem.optional,
                    idBlock: {
                      tagClass: 3,
                      tagNumber: schemaItem.context
                    },
                    ...value
                  }));
                } else
                  asn1Value.push(new asn1js.Constructed({
                    optional: schemaItem.optional,
                    idBlock: {
                      tagClass: 3,
                      tagNumber: schemaItem.context
                    },
                    value: asn1Item.valueBlock.value
                  }));
              else
                asn1Value.push(new asn1js.Constructed({
                  optional: schemaItem.optional,
                  idBlock: {
                    tagClass: 3,
                    tagNumber: schemaItem.context
                  },
                  value: [asn1Item]
                }));
            else schemaItem.repeated ? asn1Value = asn1Value.concat(asn1Item) : asn1Value.push(asn1Item);
          }
        let asnSchema;
        switch (schema.type) {
          case enums_1.AsnTypeTypes.Sequence:
            asnSchema = new asn1js.Sequence({ value: asn1Value });
            break;
          case enums_1.AsnTypeTypes.Set:
            asnSchema = new asn1js.Set({ value: asn1Value });
            break;
          case enums_1.AsnTypeTypes.Choice:
            if (!asn1Value[0])
              throw new Error(`Schema '${target.name}' has wrong data. Choice cannot be empty.`);
            asnSchema = asn1Value[0];
            break;
        }
        return asnSchema;
      }
      static toAsnItem(schemaItem, key, target, objProp) {
        let asn1Item;
        if (typeof schemaItem.type == "number") {
          let converter = schemaItem.converter;
          if (!converter)
            throw new Error(`Property '${key}' doesn't have converter for type ${enums_1.AsnPropTypes[schemaItem.type]} in schema '${target.name}'`);
          if (schemaItem.repeated) {
            if (!Array.isArray(objProp))
              throw new TypeError("Parameter 'objProp' should be type of Array.");
            let items = Array.from(objProp, (element) => converter.toASN(element)), Container = schemaItem.repeated === "sequence" ? asn1js.Sequence : asn1js.Set;
            asn1Item = new Container({ value: items });
          } else
            asn1Item = converter.toASN(objProp);
        } else if (schemaItem.repeated) {
          if (!Array.isArray(objProp))
            throw new TypeError("Parameter 'objProp' should be type of Array.");
          let items = Array.from(objProp, (element) => this.toASN(element)), Container = schemaItem.repeated === "sequence" ? asn1js.Sequence : asn1js.Set;
          asn1Item = new Container({ value: items });
        } else
          asn1Item = this.toASN(objProp);
        return asn1Item;
      }
    };
    exports.AsnSerializer = AsnSerializer;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/objects.js
var require_objects = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/objects.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnArray = void 0;
    var AsnArray = class extends Array {
      constructor(items = []) {
        if (typeof items == "number")
          super(items);
        else {
          super();
          for (let item of items)
            this.push(item);
        }
      }
    };
    exports.AsnArray = AsnArray;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/convert.js
var require_convert3 = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/convert.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnConvert = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1js = tslib_1.__importStar(require_build2()), utils_1 = require_cjs(), parser_1 = require_parser(), serializer_1 = require_serializer(), AsnConvert2 = class _AsnConvert {
      static serialize(obj) {
        return serializer_1.AsnSerializer.serialize(obj);
      }
      static parse(data, target, options) {
        return parser_1.AsnParser.parse(data, target, options);
      }
      static toString(data, options) {
        let buf = (0, utils_1.isBufferSource)(data) ? (0, utils_1.toArrayBuffer)(data) : _AsnConvert.serialize(data), asn = asn1js.fromBER(buf, options?.berOptions);
        if (asn.offset === -1)
          throw new Error(`Cannot decode ASN.1 data. ${asn.result.error}`);
        return asn.result.toString();
      }
    };
    exports.AsnConvert = AsnConvert2;
  }
});

// node_modules/@peculiar/asn1-schema/build/cjs/index.js
var require_cjs2 = __commonJS({
  "node_modules/@peculiar/asn1-schema/build/cjs/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AsnSerializer = exports.AsnParser = exports.AsnPropTypes = exports.AsnTypeTypes = exports.AsnSetType = exports.AsnSequenceType = exports.AsnChoiceType = exports.AsnType = exports.AsnProp = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    tslib_1.__exportStar(require_converters2(), exports);
    tslib_1.__exportStar(require_types(), exports);
    var decorators_1 = require_decorators();
    Object.defineProperty(exports, "AsnProp", { enumerable: !0, get: function() {
      return decorators_1.AsnProp;
    } });
    Object.defineProperty(exports, "AsnType", { enumerable: !0, get: function() {
      return decorators_1.AsnType;
    } });
    Object.defineProperty(exports, "AsnChoiceType", { enumerable: !0, get: function() {
      return decorators_1.AsnChoiceType;
    } });
    Object.defineProperty(exports, "AsnSequenceType", { enumerable: !0, get: function() {
      return decorators_1.AsnSequenceType;
    } });
    Object.defineProperty(exports, "AsnSetType", { enumerable: !0, get: function() {
      return decorators_1.AsnSetType;
    } });
    var enums_1 = require_enums();
    Object.defineProperty(exports, "AsnTypeTypes", { enumerable: !0, get: function() {
      return enums_1.AsnTypeTypes;
    } });
    Object.defineProperty(exports, "AsnPropTypes", { enumerable: !0, get: function() {
      return enums_1.AsnPropTypes;
    } });
    var parser_1 = require_parser();
    Object.defineProperty(exports, "AsnParser", { enumerable: !0, get: function() {
      return parser_1.AsnParser;
    } });
    var serializer_1 = require_serializer();
    Object.defineProperty(exports, "AsnSerializer", { enumerable: !0, get: function() {
      return serializer_1.AsnSerializer;
    } });
    tslib_1.__exportStar(require_errors(), exports);
    tslib_1.__exportStar(require_objects(), exports);
    tslib_1.__exportStar(require_convert3(), exports);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/ip_converter.js
var require_ip_converter = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/ip_converter.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.IpConverter = void 0;
    var encoding_1 = require_encoding(), IpConverter = class {
      static isIPv4(ip) {
        return /^(\d{1,3}\.){3}\d{1,3}$/.test(ip);
      }
      static parseIPv4(ip) {
        let parts = ip.split(".");
        if (parts.length !== 4)
          throw new Error("Invalid IPv4 address");
        return parts.map((part2) => {
          let num = parseInt(part2, 10);
          if (isNaN(num) || num < 0 || num > 255)
            throw new Error("Invalid IPv4 address part");
          return num;
        });
      }
      static parseIPv6(ip) {
        let parts = this.expandIPv6(ip).split(":");
        if (parts.length !== 8)
          throw new Error("Invalid IPv6 address");
        return parts.reduce((bytes, part2) => {
          let num = parseInt(part2, 16);
          if (isNaN(num) || num < 0 || num > 65535)
            throw new Error("Invalid IPv6 address part");
          return bytes.push(num >> 8 & 255), bytes.push(num & 255), bytes;
        }, []);
      }
      static expandIPv6(ip) {
        if (!ip.includes("::"))
          return ip;
        let parts = ip.split("::");
        if (parts.length > 2)
          throw new Error("Invalid IPv6 address");
        let left = parts[0] ? parts[0].split(":") : [], right = parts[1] ? parts[1].split(":") : [], missing = 8 - (left.length + right.length);
        if (missing < 0)
          throw new Error("Invalid IPv6 address");
        return [...left, ...Array(missing).fill("0"), ...right].join(":");
      }
      static formatIPv6(bytes) {
        let parts = [];
        for (let i = 0; i < 16; i += 2)
          parts.push((bytes[i] << 8 | bytes[i + 1]).toString(16));
        return this.compressIPv6(parts.join(":"));
      }
      static compressIPv6(ip) {
        let parts = ip.split(":"), longestZeroStart = -1, longestZeroLength = 0, currentZeroStart = -1, currentZeroLength = 0;
        for (let i = 0; i < parts.length; i++)
          parts[i] === "0" ? (currentZeroStart === -1 && (currentZeroStart = i), currentZeroLength++) : (currentZeroLength > longestZeroLength && (longestZeroStart = currentZeroStart, longestZeroLength = currentZeroLength), currentZeroStart = -1, currentZeroLength = 0);
        if (currentZeroLength > longestZeroLength && (longestZeroStart = currentZeroStart, longestZeroLength = currentZeroLength), longestZeroLength > 1) {
          let before = parts.slice(0, longestZeroStart).join(":"), after = parts.slice(longestZeroStart + longestZeroLength).join(":");
          return `${before}::${after}`;
        }
        return ip;
      }
      static parseCIDR(text) {
        let [addr, prefixStr] = text.split("/"), prefix = parseInt(prefixStr, 10);
        if (this.isIPv4(addr)) {
          if (prefix < 0 || prefix > 32)
            throw new Error("Invalid IPv4 prefix length");
          return [this.parseIPv4(addr), prefix];
        } else {
          if (prefix < 0 || prefix > 128)
            throw new Error("Invalid IPv6 prefix length");
          return [this.parseIPv6(addr), prefix];
        }
      }
      static decodeIP(value) {
        if (value.length === 64 && parseInt(value, 16) === 0)
          return "::/0";
        if (value.length !== 16)
          return value;
        let mask = parseInt(value.slice(8), 16).toString(2).split("").reduce((a, k) => a + +k, 0), ip = value.slice(0, 8).replace(/(.{2})/g, (match) => `${parseInt(match, 16)}.`);
        return ip = ip.slice(0, -1), `${ip}/${mask}`;
      }
      static toString(buf) {
        let uint8 = new Uint8Array(buf);
        if (uint8.length === 4)
          return Array.from(uint8).join(".");
        if (uint8.length === 16)
          return this.formatIPv6(uint8);
        if (uint8.length === 8 || uint8.length === 32) {
          let half = uint8.length / 2, addrBytes = uint8.slice(0, half), maskBytes = uint8.slice(half);
          if (uint8.every((byte) => byte === 0))
            return uint8.length === 8 ? "0.0.0.0/0" : "::/0";
          let prefixLen = maskBytes.reduce((a, b) => a + (b.toString(2).match(/1/g) || []).length, 0);
          return uint8.length === 8 ? `${Array.from(addrBytes).join(".")}/${prefixLen}` : `${this.formatIPv6(addrBytes)}/${prefixLen}`;
        }
        return this.decodeIP(encoding_1.hex.encode(buf));
      }
      static fromString(text) {
        if (text.includes("/")) {
          let [addr, prefix] = this.parseCIDR(text), maskBytes = new Uint8Array(addr.length), bitsLeft = prefix;
          for (let i = 0; i < maskBytes.length; i++)
            bitsLeft >= 8 ? (maskBytes[i] = 255, bitsLeft -= 8) : bitsLeft > 0 && (maskBytes[i] = 255 << 8 - bitsLeft, bitsLeft = 0);
          let out = new Uint8Array(addr.length * 2);
          return out.set(addr, 0), out.set(maskBytes, addr.length), out.buffer;
        }
        let bytes = this.isIPv4(text) ? this.parseIPv4(text) : this.parseIPv6(text);
        return new Uint8Array(bytes).buffer;
      }
    };
    exports.IpConverter = IpConverter;
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/name.js
var require_name = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/name.js"(exports) {
    "use strict";
    var RelativeDistinguishedName_1, RDNSequence_1, Name_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Name = exports.RDNSequence = exports.RelativeDistinguishedName = exports.AttributeTypeAndValue = exports.AttributeValue = exports.DirectoryString = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), encoding_1 = require_encoding(), DirectoryString = class {
      teletexString;
      printableString;
      universalString;
      utf8String;
      bmpString;
      constructor(params = {}) {
        Object.assign(this, params);
      }
      toString() {
        return this.bmpString || this.printableString || this.teletexString || this.universalString || this.utf8String || "";
      }
    };
    exports.DirectoryString = DirectoryString;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.TeletexString })
    ], DirectoryString.prototype, "teletexString", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.PrintableString })
    ], DirectoryString.prototype, "printableString", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.UniversalString })
    ], DirectoryString.prototype, "universalString", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.Utf8String })
    ], DirectoryString.prototype, "utf8String", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.BmpString })
    ], DirectoryString.prototype, "bmpString", void 0);
    exports.DirectoryString = DirectoryString = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], DirectoryString);
    var AttributeValue2 = class extends DirectoryString {
      ia5String;
      anyValue;
      constructor(params = {}) {
        super(params), Object.assign(this, params);
      }
      toString() {
        return this.ia5String || (this.anyValue ? encoding_1.hex.encode(this.anyValue) : super.toString());
      }
    };
    exports.AttributeValue = AttributeValue2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.IA5String })
    ], AttributeValue2.prototype, "ia5String", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.Any })
    ], AttributeValue2.prototype, "anyValue", void 0);
    exports.AttributeValue = AttributeValue2 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], AttributeValue2);
    var AttributeTypeAndValue2 = class {
      type = "";
      value = new AttributeValue2();
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.AttributeTypeAndValue = AttributeTypeAndValue2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], AttributeTypeAndValue2.prototype, "type", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: AttributeValue2 })
    ], AttributeTypeAndValue2.prototype, "value", void 0);
    var RelativeDistinguishedName2 = RelativeDistinguishedName_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, RelativeDistinguishedName_1.prototype);
      }
    };
    exports.RelativeDistinguishedName = RelativeDistinguishedName2;
    exports.RelativeDistinguishedName = RelativeDistinguishedName2 = RelativeDistinguishedName_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Set,
        itemType: AttributeTypeAndValue2
      })
    ], RelativeDistinguishedName2);
    var RDNSequence = RDNSequence_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, RDNSequence_1.prototype);
      }
    };
    exports.RDNSequence = RDNSequence;
    exports.RDNSequence = RDNSequence = RDNSequence_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: RelativeDistinguishedName2
      })
    ], RDNSequence);
    var Name2 = Name_1 = class extends RDNSequence {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, Name_1.prototype);
      }
    };
    exports.Name = Name2;
    exports.Name = Name2 = Name_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Sequence })
    ], Name2);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/general_name.js
var require_general_name = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/general_name.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.GeneralName = exports.EDIPartyName = exports.OtherName = exports.AsnIpConverter = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), ip_converter_1 = require_ip_converter(), name_1 = require_name();
    exports.AsnIpConverter = {
      fromASN: (value) => ip_converter_1.IpConverter.toString(asn1_schema_1.AsnOctetStringConverter.fromASN(value)),
      toASN: (value) => asn1_schema_1.AsnOctetStringConverter.toASN(ip_converter_1.IpConverter.fromString(value))
    };
    var OtherName = class {
      typeId = "";
      value = new ArrayBuffer(0);
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.OtherName = OtherName;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], OtherName.prototype, "typeId", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Any,
        context: 0
      })
    ], OtherName.prototype, "value", void 0);
    var EDIPartyName = class {
      nameAssigner;
      partyName = new name_1.DirectoryString();
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.EDIPartyName = EDIPartyName;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: name_1.DirectoryString,
        optional: !0,
        context: 0,
        implicit: !0
      })
    ], EDIPartyName.prototype, "nameAssigner", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: name_1.DirectoryString,
        context: 1,
        implicit: !0
      })
    ], EDIPartyName.prototype, "partyName", void 0);
    var GeneralName2 = class {
      otherName;
      rfc822Name;
      dNSName;
      x400Address;
      directoryName;
      ediPartyName;
      uniformResourceIdentifier;
      iPAddress;
      registeredID;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.GeneralName = GeneralName2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: OtherName,
        context: 0,
        implicit: !0
      })
    ], GeneralName2.prototype, "otherName", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.IA5String,
        context: 1,
        implicit: !0
      })
    ], GeneralName2.prototype, "rfc822Name", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.IA5String,
        context: 2,
        implicit: !0
      })
    ], GeneralName2.prototype, "dNSName", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Any,
        context: 3,
        implicit: !0
      })
    ], GeneralName2.prototype, "x400Address", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: name_1.Name,
        context: 4,
        implicit: !1
      })
    ], GeneralName2.prototype, "directoryName", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: EDIPartyName,
        context: 5
      })
    ], GeneralName2.prototype, "ediPartyName", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.IA5String,
        context: 6,
        implicit: !0
      })
    ], GeneralName2.prototype, "uniformResourceIdentifier", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.OctetString,
        context: 7,
        implicit: !0,
        converter: exports.AsnIpConverter
      })
    ], GeneralName2.prototype, "iPAddress", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.ObjectIdentifier,
        context: 8,
        implicit: !0
      })
    ], GeneralName2.prototype, "registeredID", void 0);
    exports.GeneralName = GeneralName2 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], GeneralName2);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/object_identifiers.js
var require_object_identifiers = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/object_identifiers.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.id_alg_unsigned = exports.id_ce = exports.id_ad_caRepository = exports.id_ad_timeStamping = exports.id_ad_caIssuers = exports.id_ad_ocsp = exports.id_qt_unotice = exports.id_qt_csp = exports.id_ad = exports.id_kp = exports.id_qt = exports.id_pe = exports.id_pkix = void 0;
    exports.id_pkix = "1.3.6.1.5.5.7";
    exports.id_pe = `${exports.id_pkix}.1`;
    exports.id_qt = `${exports.id_pkix}.2`;
    exports.id_kp = `${exports.id_pkix}.3`;
    exports.id_ad = `${exports.id_pkix}.48`;
    exports.id_qt_csp = `${exports.id_qt}.1`;
    exports.id_qt_unotice = `${exports.id_qt}.2`;
    exports.id_ad_ocsp = `${exports.id_ad}.1`;
    exports.id_ad_caIssuers = `${exports.id_ad}.2`;
    exports.id_ad_timeStamping = `${exports.id_ad}.3`;
    exports.id_ad_caRepository = `${exports.id_ad}.5`;
    exports.id_ce = "2.5.29";
    exports.id_alg_unsigned = "1.3.6.1.5.5.7.6.36";
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/authority_information_access.js
var require_authority_information_access = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/authority_information_access.js"(exports) {
    "use strict";
    var AuthorityInfoAccessSyntax_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AuthorityInfoAccessSyntax = exports.AccessDescription = exports.id_pe_authorityInfoAccess = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_name_1 = require_general_name(), object_identifiers_1 = require_object_identifiers();
    exports.id_pe_authorityInfoAccess = `${object_identifiers_1.id_pe}.1`;
    var AccessDescription = class {
      accessMethod = "";
      accessLocation = new general_name_1.GeneralName();
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.AccessDescription = AccessDescription;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], AccessDescription.prototype, "accessMethod", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: general_name_1.GeneralName })
    ], AccessDescription.prototype, "accessLocation", void 0);
    var AuthorityInfoAccessSyntax = AuthorityInfoAccessSyntax_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, AuthorityInfoAccessSyntax_1.prototype);
      }
    };
    exports.AuthorityInfoAccessSyntax = AuthorityInfoAccessSyntax;
    exports.AuthorityInfoAccessSyntax = AuthorityInfoAccessSyntax = AuthorityInfoAccessSyntax_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: AccessDescription
      })
    ], AuthorityInfoAccessSyntax);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/authority_key_identifier.js
var require_authority_key_identifier = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/authority_key_identifier.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AuthorityKeyIdentifier = exports.KeyIdentifier = exports.id_ce_authorityKeyIdentifier = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_name_1 = require_general_name(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_authorityKeyIdentifier = `${object_identifiers_1.id_ce}.35`;
    var KeyIdentifier2 = class extends asn1_schema_1.OctetString {
    };
    exports.KeyIdentifier = KeyIdentifier2;
    var AuthorityKeyIdentifier2 = class {
      keyIdentifier;
      authorityCertIssuer;
      authorityCertSerialNumber;
      constructor(params = {}) {
        params && Object.assign(this, params);
      }
    };
    exports.AuthorityKeyIdentifier = AuthorityKeyIdentifier2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: KeyIdentifier2,
        context: 0,
        optional: !0,
        implicit: !0
      })
    ], AuthorityKeyIdentifier2.prototype, "keyIdentifier", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: general_name_1.GeneralName,
        context: 1,
        optional: !0,
        implicit: !0,
        repeated: "sequence"
      })
    ], AuthorityKeyIdentifier2.prototype, "authorityCertIssuer", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        context: 2,
        optional: !0,
        implicit: !0,
        converter: asn1_schema_1.AsnIntegerArrayBufferConverter
      })
    ], AuthorityKeyIdentifier2.prototype, "authorityCertSerialNumber", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/basic_constraints.js
var require_basic_constraints = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/basic_constraints.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.BasicConstraints = exports.id_ce_basicConstraints = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_basicConstraints = `${object_identifiers_1.id_ce}.19`;
    var BasicConstraints2 = class {
      cA = !1;
      pathLenConstraint;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.BasicConstraints = BasicConstraints2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Boolean,
        defaultValue: !1
      })
    ], BasicConstraints2.prototype, "cA", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        optional: !0
      })
    ], BasicConstraints2.prototype, "pathLenConstraint", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/general_names.js
var require_general_names = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/general_names.js"(exports) {
    "use strict";
    var GeneralNames_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.GeneralNames = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_name_1 = require_general_name(), GeneralNames = GeneralNames_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, GeneralNames_1.prototype);
      }
    };
    exports.GeneralNames = GeneralNames;
    exports.GeneralNames = GeneralNames = GeneralNames_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: general_name_1.GeneralName
      })
    ], GeneralNames);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/certificate_issuer.js
var require_certificate_issuer = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/certificate_issuer.js"(exports) {
    "use strict";
    var CertificateIssuer_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.CertificateIssuer = exports.id_ce_certificateIssuer = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_names_1 = require_general_names(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_certificateIssuer = `${object_identifiers_1.id_ce}.29`;
    var CertificateIssuer = CertificateIssuer_1 = class extends general_names_1.GeneralNames {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, CertificateIssuer_1.prototype);
      }
    };
    exports.CertificateIssuer = CertificateIssuer;
    exports.CertificateIssuer = CertificateIssuer = CertificateIssuer_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Sequence })
    ], CertificateIssuer);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/certificate_policies.js
var require_certificate_policies = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/certificate_policies.js"(exports) {
    "use strict";
    var CertificatePolicies_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.CertificatePolicies = exports.PolicyInformation = exports.PolicyQualifierInfo = exports.Qualifier = exports.UserNotice = exports.NoticeReference = exports.DisplayText = exports.id_ce_certificatePolicies_anyPolicy = exports.id_ce_certificatePolicies = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_certificatePolicies = `${object_identifiers_1.id_ce}.32`;
    exports.id_ce_certificatePolicies_anyPolicy = `${exports.id_ce_certificatePolicies}.0`;
    var DisplayText = class {
      ia5String;
      visibleString;
      bmpString;
      utf8String;
      constructor(params = {}) {
        Object.assign(this, params);
      }
      toString() {
        return this.ia5String || this.visibleString || this.bmpString || this.utf8String || "";
      }
    };
    exports.DisplayText = DisplayText;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.IA5String })
    ], DisplayText.prototype, "ia5String", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.VisibleString })
    ], DisplayText.prototype, "visibleString", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.BmpString })
    ], DisplayText.prototype, "bmpString", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.Utf8String })
    ], DisplayText.prototype, "utf8String", void 0);
    exports.DisplayText = DisplayText = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], DisplayText);
    var NoticeReference = class {
      organization = new DisplayText();
      noticeNumbers = [];
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.NoticeReference = NoticeReference;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: DisplayText })
    ], NoticeReference.prototype, "organization", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        repeated: "sequence"
      })
    ], NoticeReference.prototype, "noticeNumbers", void 0);
    var UserNotice = class {
      noticeRef;
      explicitText;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.UserNotice = UserNotice;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: NoticeReference,
        optional: !0
      })
    ], UserNotice.prototype, "noticeRef", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: DisplayText,
        optional: !0
      })
    ], UserNotice.prototype, "explicitText", void 0);
    var Qualifier = class {
      cPSuri;
      userNotice;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.Qualifier = Qualifier;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.IA5String })
    ], Qualifier.prototype, "cPSuri", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: UserNotice })
    ], Qualifier.prototype, "userNotice", void 0);
    exports.Qualifier = Qualifier = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], Qualifier);
    var PolicyQualifierInfo = class {
      policyQualifierId = "";
      qualifier = new ArrayBuffer(0);
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.PolicyQualifierInfo = PolicyQualifierInfo;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], PolicyQualifierInfo.prototype, "policyQualifierId", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.Any })
    ], PolicyQualifierInfo.prototype, "qualifier", void 0);
    var PolicyInformation = class {
      policyIdentifier = "";
      policyQualifiers;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.PolicyInformation = PolicyInformation;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], PolicyInformation.prototype, "policyIdentifier", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: PolicyQualifierInfo,
        repeated: "sequence",
        optional: !0
      })
    ], PolicyInformation.prototype, "policyQualifiers", void 0);
    var CertificatePolicies = CertificatePolicies_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, CertificatePolicies_1.prototype);
      }
    };
    exports.CertificatePolicies = CertificatePolicies;
    exports.CertificatePolicies = CertificatePolicies = CertificatePolicies_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: PolicyInformation
      })
    ], CertificatePolicies);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_number.js
var require_crl_number = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_number.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.CRLNumber = exports.id_ce_cRLNumber = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_cRLNumber = `${object_identifiers_1.id_ce}.20`;
    var CRLNumber = class {
      value;
      constructor(value = 0) {
        this.value = value;
      }
    };
    exports.CRLNumber = CRLNumber;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.Integer })
    ], CRLNumber.prototype, "value", void 0);
    exports.CRLNumber = CRLNumber = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], CRLNumber);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_delta_indicator.js
var require_crl_delta_indicator = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_delta_indicator.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.BaseCRLNumber = exports.id_ce_deltaCRLIndicator = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers(), crl_number_1 = require_crl_number();
    exports.id_ce_deltaCRLIndicator = `${object_identifiers_1.id_ce}.27`;
    var BaseCRLNumber = class extends crl_number_1.CRLNumber {
    };
    exports.BaseCRLNumber = BaseCRLNumber;
    exports.BaseCRLNumber = BaseCRLNumber = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], BaseCRLNumber);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_distribution_points.js
var require_crl_distribution_points = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_distribution_points.js"(exports) {
    "use strict";
    var CRLDistributionPoints_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.CRLDistributionPoints = exports.DistributionPoint = exports.DistributionPointName = exports.Reason = exports.ReasonFlags = exports.id_ce_cRLDistributionPoints = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), name_1 = require_name(), general_name_1 = require_general_name(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_cRLDistributionPoints = `${object_identifiers_1.id_ce}.31`;
    var ReasonFlags;
    (function(ReasonFlags2) {
      ReasonFlags2[ReasonFlags2.unused = 1] = "unused", ReasonFlags2[ReasonFlags2.keyCompromise = 2] = "keyCompromise", ReasonFlags2[ReasonFlags2.cACompromise = 4] = "cACompromise", ReasonFlags2[ReasonFlags2.affiliationChanged = 8] = "affiliationChanged", ReasonFlags2[ReasonFlags2.superseded = 16] = "superseded", ReasonFlags2[ReasonFlags2.cessationOfOperation = 32] = "cessationOfOperation", ReasonFlags2[ReasonFlags2.certificateHold = 64] = "certificateHold", ReasonFlags2[ReasonFlags2.privilegeWithdrawn = 128] = "privilegeWithdrawn", ReasonFlags2[ReasonFlags2.aACompromise = 256] = "aACompromise";
    })(ReasonFlags || (exports.ReasonFlags = ReasonFlags = {}));
    var Reason = class extends asn1_schema_1.BitString {
      toJSON() {
        let res = [], flags = this.toNumber();
        return flags & ReasonFlags.aACompromise && res.push("aACompromise"), flags & ReasonFlags.affiliationChanged && res.push("affiliationChanged"), flags & ReasonFlags.cACompromise && res.push("cACompromise"), flags & ReasonFlags.certificateHold && res.push("certificateHold"), flags & ReasonFlags.cessationOfOperation && res.push("cessationOfOperation"), flags & ReasonFlags.keyCompromise && res.push("keyCompromise"), flags & ReasonFlags.privilegeWithdrawn && res.push("privilegeWithdrawn"), flags & ReasonFlags.superseded && res.push("superseded"), flags & ReasonFlags.unused && res.push("unused"), res;
      }
      toString() {
        return `[${this.toJSON().join(", ")}]`;
      }
    };
    exports.Reason = Reason;
    var DistributionPointName = class {
      fullName;
      nameRelativeToCRLIssuer;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.DistributionPointName = DistributionPointName;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: general_name_1.GeneralName,
        context: 0,
        repeated: "sequence",
        implicit: !0
      })
    ], DistributionPointName.prototype, "fullName", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: name_1.RelativeDistinguishedName,
        context: 1,
        implicit: !0
      })
    ], DistributionPointName.prototype, "nameRelativeToCRLIssuer", void 0);
    exports.DistributionPointName = DistributionPointName = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], DistributionPointName);
    var DistributionPoint = class {
      distributionPoint;
      reasons;
      cRLIssuer;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.DistributionPoint = DistributionPoint;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: DistributionPointName,
        context: 0,
        optional: !0
      })
    ], DistributionPoint.prototype, "distributionPoint", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: Reason,
        context: 1,
        optional: !0,
        implicit: !0
      })
    ], DistributionPoint.prototype, "reasons", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: general_name_1.GeneralName,
        context: 2,
        optional: !0,
        repeated: "sequence",
        implicit: !0
      })
    ], DistributionPoint.prototype, "cRLIssuer", void 0);
    var CRLDistributionPoints = CRLDistributionPoints_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, CRLDistributionPoints_1.prototype);
      }
    };
    exports.CRLDistributionPoints = CRLDistributionPoints;
    exports.CRLDistributionPoints = CRLDistributionPoints = CRLDistributionPoints_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: DistributionPoint
      })
    ], CRLDistributionPoints);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_freshest.js
var require_crl_freshest = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_freshest.js"(exports) {
    "use strict";
    var FreshestCRL_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.FreshestCRL = exports.id_ce_freshestCRL = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers(), crl_distribution_points_1 = require_crl_distribution_points();
    exports.id_ce_freshestCRL = `${object_identifiers_1.id_ce}.46`;
    var FreshestCRL = FreshestCRL_1 = class extends crl_distribution_points_1.CRLDistributionPoints {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, FreshestCRL_1.prototype);
      }
    };
    exports.FreshestCRL = FreshestCRL;
    exports.FreshestCRL = FreshestCRL = FreshestCRL_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: crl_distribution_points_1.DistributionPoint
      })
    ], FreshestCRL);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_issuing_distribution_point.js
var require_crl_issuing_distribution_point = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_issuing_distribution_point.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.IssuingDistributionPoint = exports.id_ce_issuingDistributionPoint = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers(), crl_distribution_points_1 = require_crl_distribution_points();
    exports.id_ce_issuingDistributionPoint = `${object_identifiers_1.id_ce}.28`;
    var IssuingDistributionPoint = class _IssuingDistributionPoint {
      static ONLY = !1;
      distributionPoint;
      onlyContainsUserCerts = _IssuingDistributionPoint.ONLY;
      onlyContainsCACerts = _IssuingDistributionPoint.ONLY;
      onlySomeReasons;
      indirectCRL = _IssuingDistributionPoint.ONLY;
      onlyContainsAttributeCerts = _IssuingDistributionPoint.ONLY;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.IssuingDistributionPoint = IssuingDistributionPoint;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: crl_distribution_points_1.DistributionPointName,
        context: 0,
        optional: !0
      })
    ], IssuingDistributionPoint.prototype, "distributionPoint", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Boolean,
        context: 1,
        defaultValue: IssuingDistributionPoint.ONLY,
        implicit: !0
      })
    ], IssuingDistributionPoint.prototype, "onlyContainsUserCerts", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Boolean,
        context: 2,
        defaultValue: IssuingDistributionPoint.ONLY,
        implicit: !0
      })
    ], IssuingDistributionPoint.prototype, "onlyContainsCACerts", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: crl_distribution_points_1.Reason,
        context: 3,
        optional: !0,
        implicit: !0
      })
    ], IssuingDistributionPoint.prototype, "onlySomeReasons", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Boolean,
        context: 4,
        defaultValue: IssuingDistributionPoint.ONLY,
        implicit: !0
      })
    ], IssuingDistributionPoint.prototype, "indirectCRL", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Boolean,
        context: 5,
        defaultValue: IssuingDistributionPoint.ONLY,
        implicit: !0
      })
    ], IssuingDistributionPoint.prototype, "onlyContainsAttributeCerts", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_reason.js
var require_crl_reason = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/crl_reason.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.CRLReason = exports.CRLReasons = exports.id_ce_cRLReasons = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_cRLReasons = `${object_identifiers_1.id_ce}.21`;
    var CRLReasons;
    (function(CRLReasons2) {
      CRLReasons2[CRLReasons2.unspecified = 0] = "unspecified", CRLReasons2[CRLReasons2.keyCompromise = 1] = "keyCompromise", CRLReasons2[CRLReasons2.cACompromise = 2] = "cACompromise", CRLReasons2[CRLReasons2.affiliationChanged = 3] = "affiliationChanged", CRLReasons2[CRLReasons2.superseded = 4] = "superseded", CRLReasons2[CRLReasons2.cessationOfOperation = 5] = "cessationOfOperation", CRLReasons2[CRLReasons2.certificateHold = 6] = "certificateHold", CRLReasons2[CRLReasons2.removeFromCRL = 8] = "removeFromCRL", CRLReasons2[CRLReasons2.privilegeWithdrawn = 9] = "privilegeWithdrawn", CRLReasons2[CRLReasons2.aACompromise = 10] = "aACompromise";
    })(CRLReasons || (exports.CRLReasons = CRLReasons = {}));
    var CRLReason = class {
      reason = CRLReasons.unspecified;
      constructor(reason = CRLReasons.unspecified) {
        this.reason = reason;
      }
      toJSON() {
        return CRLReasons[this.reason];
      }
      toString() {
        return this.toJSON();
      }
    };
    exports.CRLReason = CRLReason;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.Enumerated })
    ], CRLReason.prototype, "reason", void 0);
    exports.CRLReason = CRLReason = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], CRLReason);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/extended_key_usage.js
var require_extended_key_usage = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/extended_key_usage.js"(exports) {
    "use strict";
    var ExtendedKeyUsage_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.id_kp_OCSPSigning = exports.id_kp_timeStamping = exports.id_kp_emailProtection = exports.id_kp_codeSigning = exports.id_kp_clientAuth = exports.id_kp_serverAuth = exports.anyExtendedKeyUsage = exports.ExtendedKeyUsage = exports.id_ce_extKeyUsage = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_extKeyUsage = `${object_identifiers_1.id_ce}.37`;
    var ExtendedKeyUsage2 = ExtendedKeyUsage_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, ExtendedKeyUsage_1.prototype);
      }
    };
    exports.ExtendedKeyUsage = ExtendedKeyUsage2;
    exports.ExtendedKeyUsage = ExtendedKeyUsage2 = ExtendedKeyUsage_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: asn1_schema_1.AsnPropTypes.ObjectIdentifier
      })
    ], ExtendedKeyUsage2);
    exports.anyExtendedKeyUsage = `${exports.id_ce_extKeyUsage}.0`;
    exports.id_kp_serverAuth = `${object_identifiers_1.id_kp}.1`;
    exports.id_kp_clientAuth = `${object_identifiers_1.id_kp}.2`;
    exports.id_kp_codeSigning = `${object_identifiers_1.id_kp}.3`;
    exports.id_kp_emailProtection = `${object_identifiers_1.id_kp}.4`;
    exports.id_kp_timeStamping = `${object_identifiers_1.id_kp}.8`;
    exports.id_kp_OCSPSigning = `${object_identifiers_1.id_kp}.9`;
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/inhibit_any_policy.js
var require_inhibit_any_policy = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/inhibit_any_policy.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.InhibitAnyPolicy = exports.id_ce_inhibitAnyPolicy = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_inhibitAnyPolicy = `${object_identifiers_1.id_ce}.54`;
    var InhibitAnyPolicy = class {
      value;
      constructor(value = new ArrayBuffer(0)) {
        this.value = value;
      }
    };
    exports.InhibitAnyPolicy = InhibitAnyPolicy;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        converter: asn1_schema_1.AsnIntegerArrayBufferConverter
      })
    ], InhibitAnyPolicy.prototype, "value", void 0);
    exports.InhibitAnyPolicy = InhibitAnyPolicy = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], InhibitAnyPolicy);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/invalidity_date.js
var require_invalidity_date = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/invalidity_date.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.InvalidityDate = exports.id_ce_invalidityDate = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_invalidityDate = `${object_identifiers_1.id_ce}.24`;
    var InvalidityDate = class {
      value = /* @__PURE__ */ new Date();
      constructor(value) {
        value && (this.value = value);
      }
    };
    exports.InvalidityDate = InvalidityDate;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.GeneralizedTime })
    ], InvalidityDate.prototype, "value", void 0);
    exports.InvalidityDate = InvalidityDate = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], InvalidityDate);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/issuer_alternative_name.js
var require_issuer_alternative_name = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/issuer_alternative_name.js"(exports) {
    "use strict";
    var IssueAlternativeName_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.IssueAlternativeName = exports.id_ce_issuerAltName = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_names_1 = require_general_names(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_issuerAltName = `${object_identifiers_1.id_ce}.18`;
    var IssueAlternativeName = IssueAlternativeName_1 = class extends general_names_1.GeneralNames {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, IssueAlternativeName_1.prototype);
      }
    };
    exports.IssueAlternativeName = IssueAlternativeName;
    exports.IssueAlternativeName = IssueAlternativeName = IssueAlternativeName_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Sequence })
    ], IssueAlternativeName);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/key_usage.js
var require_key_usage = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/key_usage.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.KeyUsage = exports.KeyUsageFlags = exports.id_ce_keyUsage = void 0;
    var asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_keyUsage = `${object_identifiers_1.id_ce}.15`;
    var KeyUsageFlags;
    (function(KeyUsageFlags2) {
      KeyUsageFlags2[KeyUsageFlags2.digitalSignature = 1] = "digitalSignature", KeyUsageFlags2[KeyUsageFlags2.nonRepudiation = 2] = "nonRepudiation", KeyUsageFlags2[KeyUsageFlags2.keyEncipherment = 4] = "keyEncipherment", KeyUsageFlags2[KeyUsageFlags2.dataEncipherment = 8] = "dataEncipherment", KeyUsageFlags2[KeyUsageFlags2.keyAgreement = 16] = "keyAgreement", KeyUsageFlags2[KeyUsageFlags2.keyCertSign = 32] = "keyCertSign", KeyUsageFlags2[KeyUsageFlags2.cRLSign = 64] = "cRLSign", KeyUsageFlags2[KeyUsageFlags2.encipherOnly = 128] = "encipherOnly", KeyUsageFlags2[KeyUsageFlags2.decipherOnly = 256] = "decipherOnly";
    })(KeyUsageFlags || (exports.KeyUsageFlags = KeyUsageFlags = {}));
    var KeyUsage2 = class extends asn1_schema_1.BitString {
      toJSON() {
        let flag = this.toNumber(), res = [];
        return flag & KeyUsageFlags.cRLSign && res.push("crlSign"), flag & KeyUsageFlags.dataEncipherment && res.push("dataEncipherment"), flag & KeyUsageFlags.decipherOnly && res.push("decipherOnly"), flag & KeyUsageFlags.digitalSignature && res.push("digitalSignature"), flag & KeyUsageFlags.encipherOnly && res.push("encipherOnly"), flag & KeyUsageFlags.keyAgreement && res.push("keyAgreement"), flag & KeyUsageFlags.keyCertSign && res.push("keyCertSign"), flag & KeyUsageFlags.keyEncipherment && res.push("keyEncipherment"), flag & KeyUsageFlags.nonRepudiation && res.push("nonRepudiation"), res;
      }
      toString() {
        return `[${this.toJSON().join(", ")}]`;
      }
    };
    exports.KeyUsage = KeyUsage2;
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/name_constraints.js
var require_name_constraints = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/name_constraints.js"(exports) {
    "use strict";
    var GeneralSubtrees_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.NameConstraints = exports.GeneralSubtrees = exports.GeneralSubtree = exports.id_ce_nameConstraints = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_name_1 = require_general_name(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_nameConstraints = `${object_identifiers_1.id_ce}.30`;
    var GeneralSubtree = class {
      base = new general_name_1.GeneralName();
      minimum = 0;
      maximum;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.GeneralSubtree = GeneralSubtree;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: general_name_1.GeneralName })
    ], GeneralSubtree.prototype, "base", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        context: 0,
        defaultValue: 0,
        implicit: !0
      })
    ], GeneralSubtree.prototype, "minimum", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        context: 1,
        optional: !0,
        implicit: !0
      })
    ], GeneralSubtree.prototype, "maximum", void 0);
    var GeneralSubtrees = GeneralSubtrees_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, GeneralSubtrees_1.prototype);
      }
    };
    exports.GeneralSubtrees = GeneralSubtrees;
    exports.GeneralSubtrees = GeneralSubtrees = GeneralSubtrees_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: GeneralSubtree
      })
    ], GeneralSubtrees);
    var NameConstraints = class {
      permittedSubtrees;
      excludedSubtrees;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.NameConstraints = NameConstraints;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: GeneralSubtrees,
        context: 0,
        optional: !0,
        implicit: !0
      })
    ], NameConstraints.prototype, "permittedSubtrees", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: GeneralSubtrees,
        context: 1,
        optional: !0,
        implicit: !0
      })
    ], NameConstraints.prototype, "excludedSubtrees", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/policy_constraints.js
var require_policy_constraints = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/policy_constraints.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.PolicyConstraints = exports.id_ce_policyConstraints = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_policyConstraints = `${object_identifiers_1.id_ce}.36`;
    var PolicyConstraints = class {
      requireExplicitPolicy;
      inhibitPolicyMapping;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.PolicyConstraints = PolicyConstraints;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        context: 0,
        implicit: !0,
        optional: !0,
        converter: asn1_schema_1.AsnIntegerArrayBufferConverter
      })
    ], PolicyConstraints.prototype, "requireExplicitPolicy", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        context: 1,
        implicit: !0,
        optional: !0,
        converter: asn1_schema_1.AsnIntegerArrayBufferConverter
      })
    ], PolicyConstraints.prototype, "inhibitPolicyMapping", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/policy_mappings.js
var require_policy_mappings = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/policy_mappings.js"(exports) {
    "use strict";
    var PolicyMappings_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.PolicyMappings = exports.PolicyMapping = exports.id_ce_policyMappings = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_policyMappings = `${object_identifiers_1.id_ce}.33`;
    var PolicyMapping = class {
      issuerDomainPolicy = "";
      subjectDomainPolicy = "";
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.PolicyMapping = PolicyMapping;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], PolicyMapping.prototype, "issuerDomainPolicy", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], PolicyMapping.prototype, "subjectDomainPolicy", void 0);
    var PolicyMappings = PolicyMappings_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, PolicyMappings_1.prototype);
      }
    };
    exports.PolicyMappings = PolicyMappings;
    exports.PolicyMappings = PolicyMappings = PolicyMappings_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: PolicyMapping
      })
    ], PolicyMappings);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_alternative_name.js
var require_subject_alternative_name = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_alternative_name.js"(exports) {
    "use strict";
    var SubjectAlternativeName_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.SubjectAlternativeName = exports.id_ce_subjectAltName = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), general_names_1 = require_general_names(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_subjectAltName = `${object_identifiers_1.id_ce}.17`;
    var SubjectAlternativeName2 = SubjectAlternativeName_1 = class extends general_names_1.GeneralNames {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, SubjectAlternativeName_1.prototype);
      }
    };
    exports.SubjectAlternativeName = SubjectAlternativeName2;
    exports.SubjectAlternativeName = SubjectAlternativeName2 = SubjectAlternativeName_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Sequence })
    ], SubjectAlternativeName2);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/attribute.js
var require_attribute = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/attribute.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Attribute = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), Attribute = class {
      type = "";
      values = [];
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.Attribute = Attribute;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], Attribute.prototype, "type", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Any,
        repeated: "set"
      })
    ], Attribute.prototype, "values", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_directory_attributes.js
var require_subject_directory_attributes = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_directory_attributes.js"(exports) {
    "use strict";
    var SubjectDirectoryAttributes_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.SubjectDirectoryAttributes = exports.id_ce_subjectDirectoryAttributes = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), attribute_1 = require_attribute(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_subjectDirectoryAttributes = `${object_identifiers_1.id_ce}.9`;
    var SubjectDirectoryAttributes = SubjectDirectoryAttributes_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, SubjectDirectoryAttributes_1.prototype);
      }
    };
    exports.SubjectDirectoryAttributes = SubjectDirectoryAttributes;
    exports.SubjectDirectoryAttributes = SubjectDirectoryAttributes = SubjectDirectoryAttributes_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: attribute_1.Attribute
      })
    ], SubjectDirectoryAttributes);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_key_identifier.js
var require_subject_key_identifier = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_key_identifier.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.SubjectKeyIdentifier = exports.id_ce_subjectKeyIdentifier = void 0;
    var object_identifiers_1 = require_object_identifiers(), authority_key_identifier_1 = require_authority_key_identifier();
    exports.id_ce_subjectKeyIdentifier = `${object_identifiers_1.id_ce}.14`;
    var SubjectKeyIdentifier2 = class extends authority_key_identifier_1.KeyIdentifier {
    };
    exports.SubjectKeyIdentifier = SubjectKeyIdentifier2;
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/private_key_usage_period.js
var require_private_key_usage_period = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/private_key_usage_period.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.PrivateKeyUsagePeriod = exports.id_ce_privateKeyUsagePeriod = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers();
    exports.id_ce_privateKeyUsagePeriod = `${object_identifiers_1.id_ce}.16`;
    var PrivateKeyUsagePeriod = class {
      notBefore;
      notAfter;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.PrivateKeyUsagePeriod = PrivateKeyUsagePeriod;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.GeneralizedTime,
        context: 0,
        implicit: !0,
        optional: !0
      })
    ], PrivateKeyUsagePeriod.prototype, "notBefore", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.GeneralizedTime,
        context: 1,
        implicit: !0,
        optional: !0
      })
    ], PrivateKeyUsagePeriod.prototype, "notAfter", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/entrust_version_info.js
var require_entrust_version_info = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/entrust_version_info.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.EntrustVersionInfo = exports.EntrustInfo = exports.EntrustInfoFlags = exports.id_entrust_entrustVersInfo = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2();
    exports.id_entrust_entrustVersInfo = "1.2.840.113533.7.65.0";
    var EntrustInfoFlags;
    (function(EntrustInfoFlags2) {
      EntrustInfoFlags2[EntrustInfoFlags2.keyUpdateAllowed = 1] = "keyUpdateAllowed", EntrustInfoFlags2[EntrustInfoFlags2.newExtensions = 2] = "newExtensions", EntrustInfoFlags2[EntrustInfoFlags2.pKIXCertificate = 4] = "pKIXCertificate";
    })(EntrustInfoFlags || (exports.EntrustInfoFlags = EntrustInfoFlags = {}));
    var EntrustInfo = class extends asn1_schema_1.BitString {
      toJSON() {
        let res = [], flags = this.toNumber();
        return flags & EntrustInfoFlags.pKIXCertificate && res.push("pKIXCertificate"), flags & EntrustInfoFlags.newExtensions && res.push("newExtensions"), flags & EntrustInfoFlags.keyUpdateAllowed && res.push("keyUpdateAllowed"), res;
      }
      toString() {
        return `[${this.toJSON().join(", ")}]`;
      }
    };
    exports.EntrustInfo = EntrustInfo;
    var EntrustVersionInfo = class {
      entrustVers = "";
      entrustInfoFlags = new EntrustInfo();
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.EntrustVersionInfo = EntrustVersionInfo;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.GeneralString })
    ], EntrustVersionInfo.prototype, "entrustVers", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: EntrustInfo })
    ], EntrustVersionInfo.prototype, "entrustInfoFlags", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_info_access.js
var require_subject_info_access = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/subject_info_access.js"(exports) {
    "use strict";
    var SubjectInfoAccessSyntax_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.SubjectInfoAccessSyntax = exports.id_pe_subjectInfoAccess = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), object_identifiers_1 = require_object_identifiers(), authority_information_access_1 = require_authority_information_access();
    exports.id_pe_subjectInfoAccess = `${object_identifiers_1.id_pe}.11`;
    var SubjectInfoAccessSyntax = SubjectInfoAccessSyntax_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, SubjectInfoAccessSyntax_1.prototype);
      }
    };
    exports.SubjectInfoAccessSyntax = SubjectInfoAccessSyntax;
    exports.SubjectInfoAccessSyntax = SubjectInfoAccessSyntax = SubjectInfoAccessSyntax_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: authority_information_access_1.AccessDescription
      })
    ], SubjectInfoAccessSyntax);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extensions/index.js
var require_extensions = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extensions/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    tslib_1.__exportStar(require_authority_information_access(), exports);
    tslib_1.__exportStar(require_authority_key_identifier(), exports);
    tslib_1.__exportStar(require_basic_constraints(), exports);
    tslib_1.__exportStar(require_certificate_issuer(), exports);
    tslib_1.__exportStar(require_certificate_policies(), exports);
    tslib_1.__exportStar(require_crl_delta_indicator(), exports);
    tslib_1.__exportStar(require_crl_distribution_points(), exports);
    tslib_1.__exportStar(require_crl_freshest(), exports);
    tslib_1.__exportStar(require_crl_issuing_distribution_point(), exports);
    tslib_1.__exportStar(require_crl_number(), exports);
    tslib_1.__exportStar(require_crl_reason(), exports);
    tslib_1.__exportStar(require_extended_key_usage(), exports);
    tslib_1.__exportStar(require_inhibit_any_policy(), exports);
    tslib_1.__exportStar(require_invalidity_date(), exports);
    tslib_1.__exportStar(require_issuer_alternative_name(), exports);
    tslib_1.__exportStar(require_key_usage(), exports);
    tslib_1.__exportStar(require_name_constraints(), exports);
    tslib_1.__exportStar(require_policy_constraints(), exports);
    tslib_1.__exportStar(require_policy_mappings(), exports);
    tslib_1.__exportStar(require_subject_alternative_name(), exports);
    tslib_1.__exportStar(require_subject_directory_attributes(), exports);
    tslib_1.__exportStar(require_subject_key_identifier(), exports);
    tslib_1.__exportStar(require_private_key_usage_period(), exports);
    tslib_1.__exportStar(require_entrust_version_info(), exports);
    tslib_1.__exportStar(require_subject_info_access(), exports);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/algorithm_identifier.js
var require_algorithm_identifier = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/algorithm_identifier.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.AlgorithmIdentifier = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), bytes_1 = require_bytes(), AlgorithmIdentifier2 = class _AlgorithmIdentifier {
      algorithm = "";
      parameters;
      constructor(params = {}) {
        Object.assign(this, params);
      }
      isEqual(data) {
        return data instanceof _AlgorithmIdentifier && data.algorithm == this.algorithm && (data.parameters && this.parameters && (0, bytes_1.equal)(data.parameters, this.parameters) || data.parameters === this.parameters);
      }
    };
    exports.AlgorithmIdentifier = AlgorithmIdentifier2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], AlgorithmIdentifier2.prototype, "algorithm", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Any,
        optional: !0
      })
    ], AlgorithmIdentifier2.prototype, "parameters", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/subject_public_key_info.js
var require_subject_public_key_info = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/subject_public_key_info.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.SubjectPublicKeyInfo = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), algorithm_identifier_1 = require_algorithm_identifier(), SubjectPublicKeyInfo2 = class {
      algorithm = new algorithm_identifier_1.AlgorithmIdentifier();
      subjectPublicKey = new ArrayBuffer(0);
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.SubjectPublicKeyInfo = SubjectPublicKeyInfo2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: algorithm_identifier_1.AlgorithmIdentifier })
    ], SubjectPublicKeyInfo2.prototype, "algorithm", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.BitString })
    ], SubjectPublicKeyInfo2.prototype, "subjectPublicKey", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/time.js
var require_time = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/time.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Time = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), Time = class {
      utcTime;
      generalTime;
      constructor(time) {
        if (time)
          if (typeof time == "string" || typeof time == "number" || time instanceof Date) {
            let date = new Date(time);
            date.setUTCMilliseconds(0), date.getUTCFullYear() > 2049 ? this.generalTime = date : this.utcTime = date;
          } else
            Object.assign(this, time);
      }
      getTime() {
        let time = this.utcTime || this.generalTime;
        if (!time)
          throw new Error("Cannot get time from CHOICE object");
        return time;
      }
    };
    exports.Time = Time;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.UTCTime })
    ], Time.prototype, "utcTime", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.GeneralizedTime })
    ], Time.prototype, "generalTime", void 0);
    exports.Time = Time = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({ type: asn1_schema_1.AsnTypeTypes.Choice })
    ], Time);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/validity.js
var require_validity = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/validity.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Validity = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), time_1 = require_time(), Validity2 = class {
      notBefore = new time_1.Time(/* @__PURE__ */ new Date());
      notAfter = new time_1.Time(/* @__PURE__ */ new Date());
      constructor(params) {
        params && (this.notBefore = new time_1.Time(params.notBefore), this.notAfter = new time_1.Time(params.notAfter));
      }
    };
    exports.Validity = Validity2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: time_1.Time })
    ], Validity2.prototype, "notBefore", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: time_1.Time })
    ], Validity2.prototype, "notAfter", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/extension.js
var require_extension = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/extension.js"(exports) {
    "use strict";
    var Extensions_1;
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Extensions = exports.Extension = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), Extension2 = class _Extension {
      static CRITICAL = !1;
      extnID = "";
      critical = _Extension.CRITICAL;
      extnValue = new asn1_schema_1.OctetString();
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.Extension = Extension2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.ObjectIdentifier })
    ], Extension2.prototype, "extnID", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Boolean,
        defaultValue: Extension2.CRITICAL
      })
    ], Extension2.prototype, "critical", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.OctetString })
    ], Extension2.prototype, "extnValue", void 0);
    var Extensions2 = Extensions_1 = class extends asn1_schema_1.AsnArray {
      constructor(items) {
        super(items), Object.setPrototypeOf(this, Extensions_1.prototype);
      }
    };
    exports.Extensions = Extensions2;
    exports.Extensions = Extensions2 = Extensions_1 = tslib_1.__decorate([
      (0, asn1_schema_1.AsnType)({
        type: asn1_schema_1.AsnTypeTypes.Sequence,
        itemType: Extension2
      })
    ], Extensions2);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/types.js
var require_types2 = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/types.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Version = void 0;
    var Version2;
    (function(Version3) {
      Version3[Version3.v1 = 0] = "v1", Version3[Version3.v2 = 1] = "v2", Version3[Version3.v3 = 2] = "v3";
    })(Version2 || (exports.Version = Version2 = {}));
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/tbs_certificate.js
var require_tbs_certificate = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/tbs_certificate.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.TBSCertificate = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), algorithm_identifier_1 = require_algorithm_identifier(), name_1 = require_name(), subject_public_key_info_1 = require_subject_public_key_info(), validity_1 = require_validity(), extension_1 = require_extension(), types_1 = require_types2(), TBSCertificate2 = class {
      version = types_1.Version.v1;
      serialNumber = new ArrayBuffer(0);
      signature = new algorithm_identifier_1.AlgorithmIdentifier();
      issuer = new name_1.Name();
      validity = new validity_1.Validity();
      subject = new name_1.Name();
      subjectPublicKeyInfo = new subject_public_key_info_1.SubjectPublicKeyInfo();
      issuerUniqueID;
      subjectUniqueID;
      extensions;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.TBSCertificate = TBSCertificate2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        context: 0,
        defaultValue: types_1.Version.v1
      })
    ], TBSCertificate2.prototype, "version", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        converter: asn1_schema_1.AsnIntegerArrayBufferConverter
      })
    ], TBSCertificate2.prototype, "serialNumber", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: algorithm_identifier_1.AlgorithmIdentifier })
    ], TBSCertificate2.prototype, "signature", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: name_1.Name })
    ], TBSCertificate2.prototype, "issuer", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: validity_1.Validity })
    ], TBSCertificate2.prototype, "validity", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: name_1.Name })
    ], TBSCertificate2.prototype, "subject", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: subject_public_key_info_1.SubjectPublicKeyInfo })
    ], TBSCertificate2.prototype, "subjectPublicKeyInfo", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.BitString,
        context: 1,
        implicit: !0,
        optional: !0
      })
    ], TBSCertificate2.prototype, "issuerUniqueID", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.BitString,
        context: 2,
        implicit: !0,
        optional: !0
      })
    ], TBSCertificate2.prototype, "subjectUniqueID", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: extension_1.Extensions,
        context: 3,
        optional: !0
      })
    ], TBSCertificate2.prototype, "extensions", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/certificate.js
var require_certificate = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/certificate.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.Certificate = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), algorithm_identifier_1 = require_algorithm_identifier(), tbs_certificate_1 = require_tbs_certificate(), Certificate2 = class {
      tbsCertificate = new tbs_certificate_1.TBSCertificate();
      tbsCertificateRaw;
      signatureAlgorithm = new algorithm_identifier_1.AlgorithmIdentifier();
      signatureValue = new ArrayBuffer(0);
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.Certificate = Certificate2;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: tbs_certificate_1.TBSCertificate,
        raw: !0
      })
    ], Certificate2.prototype, "tbsCertificate", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: algorithm_identifier_1.AlgorithmIdentifier })
    ], Certificate2.prototype, "signatureAlgorithm", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.BitString })
    ], Certificate2.prototype, "signatureValue", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/tbs_cert_list.js
var require_tbs_cert_list = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/tbs_cert_list.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.TBSCertList = exports.RevokedCertificate = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), algorithm_identifier_1 = require_algorithm_identifier(), name_1 = require_name(), time_1 = require_time(), extension_1 = require_extension(), RevokedCertificate = class {
      userCertificate = new ArrayBuffer(0);
      revocationDate = new time_1.Time();
      crlEntryExtensions;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.RevokedCertificate = RevokedCertificate;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        converter: asn1_schema_1.AsnIntegerArrayBufferConverter
      })
    ], RevokedCertificate.prototype, "userCertificate", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: time_1.Time })
    ], RevokedCertificate.prototype, "revocationDate", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: extension_1.Extension,
        optional: !0,
        repeated: "sequence"
      })
    ], RevokedCertificate.prototype, "crlEntryExtensions", void 0);
    var TBSCertList = class {
      version;
      signature = new algorithm_identifier_1.AlgorithmIdentifier();
      issuer = new name_1.Name();
      thisUpdate = new time_1.Time();
      nextUpdate;
      revokedCertificates;
      crlExtensions;
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.TBSCertList = TBSCertList;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: asn1_schema_1.AsnPropTypes.Integer,
        optional: !0
      })
    ], TBSCertList.prototype, "version", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: algorithm_identifier_1.AlgorithmIdentifier })
    ], TBSCertList.prototype, "signature", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: name_1.Name })
    ], TBSCertList.prototype, "issuer", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: time_1.Time })
    ], TBSCertList.prototype, "thisUpdate", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: time_1.Time,
        optional: !0
      })
    ], TBSCertList.prototype, "nextUpdate", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: RevokedCertificate,
        repeated: "sequence",
        optional: !0
      })
    ], TBSCertList.prototype, "revokedCertificates", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: extension_1.Extension,
        optional: !0,
        context: 0,
        repeated: "sequence"
      })
    ], TBSCertList.prototype, "crlExtensions", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/certificate_list.js
var require_certificate_list = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/certificate_list.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    exports.CertificateList = void 0;
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports)), asn1_schema_1 = require_cjs2(), algorithm_identifier_1 = require_algorithm_identifier(), tbs_cert_list_1 = require_tbs_cert_list(), CertificateList = class {
      tbsCertList = new tbs_cert_list_1.TBSCertList();
      tbsCertListRaw;
      signatureAlgorithm = new algorithm_identifier_1.AlgorithmIdentifier();
      signature = new ArrayBuffer(0);
      constructor(params = {}) {
        Object.assign(this, params);
      }
    };
    exports.CertificateList = CertificateList;
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({
        type: tbs_cert_list_1.TBSCertList,
        raw: !0
      })
    ], CertificateList.prototype, "tbsCertList", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: algorithm_identifier_1.AlgorithmIdentifier })
    ], CertificateList.prototype, "signatureAlgorithm", void 0);
    tslib_1.__decorate([
      (0, asn1_schema_1.AsnProp)({ type: asn1_schema_1.AsnPropTypes.BitString })
    ], CertificateList.prototype, "signature", void 0);
  }
});

// node_modules/@peculiar/asn1-x509/build/cjs/index.js
var require_cjs3 = __commonJS({
  "node_modules/@peculiar/asn1-x509/build/cjs/index.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: !0 });
    var tslib_1 = (init_tslib_es6(), __toCommonJS(tslib_es6_exports));
    tslib_1.__exportStar(require_extensions(), exports);
    tslib_1.__exportStar(require_algorithm_identifier(), exports);
    tslib_1.__exportStar(require_attribute(), exports);
    tslib_1.__exportStar(require_certificate(), exports);
    tslib_1.__exportStar(require_certificate_list(), exports);
    tslib_1.__exportStar(require_extension(), exports);
    tslib_1.__exportStar(require_general_name(), exports);
    tslib_1.__exportStar(require_general_names(), exports);
    tslib_1.__exportStar(require_name(), exports);
    tslib_1.__exportStar(require_object_identifiers(), exports);
    tslib_1.__exportStar(require_subject_public_key_info(), exports);
    tslib_1.__exportStar(require_tbs_cert_list(), exports);
    tslib_1.__exportStar(require_tbs_certificate(), exports);
    tslib_1.__exportStar(require_time(), exports);
    tslib_1.__exportStar(require_types2(), exports);
    tslib_1.__exportStar(require_validity(), exports);
  }
});

// src/pki/certificate-encoding.ts
var import_asn1_schema = __toESM(require_cjs2(), 1), import_asn1_x509 = __toESM(require_cjs3(), 1);
import { createHash, randomBytes, sign, X509Certificate } from "node:crypto";
var ecdsaWithSha256 = "1.2.840.10045.4.3.2", oids = { commonName: "2.5.4.3", organization: "2.5.4.10" };
function encodeCertificate(template) {
  let signatureAlgorithm = new import_asn1_x509.AlgorithmIdentifier({ algorithm: ecdsaWithSha256 }), tbsCertificate = unsigned(template, signatureAlgorithm), signed = Buffer.from(import_asn1_schema.AsnConvert.serialize(tbsCertificate)), signatureValue = arrayBuffer(sign("sha256", signed, template.issuer.key));
  return Buffer.from(import_asn1_schema.AsnConvert.serialize(new import_asn1_x509.Certificate({ tbsCertificate, signatureAlgorithm, signatureValue })));
}
function unsigned(template, signature) {
  let subject = nameOf(template.subject), signer = signerOf(template, subject);
  return new import_asn1_x509.TBSCertificate({
    version: import_asn1_x509.Version.v3,
    serialNumber: arrayBuffer(template.serial ?? randomSerial(template.random ?? randomBytes)),
    signature,
    issuer: signer.name,
    validity: new import_asn1_x509.Validity({ notBefore: new Date(template.notBefore), notAfter: new Date(template.notAfter) }),
    subject,
    subjectPublicKeyInfo: import_asn1_schema.AsnConvert.parse(spkiOf(template.publicKey), import_asn1_x509.SubjectPublicKeyInfo),
    extensions: new import_asn1_x509.Extensions(extensionsOf(template, signer.keyId))
  });
}
function randomSerial(random) {
  let serial = Buffer.from(random(16));
  return serial[0] = serial[0] & 63 | 64, serial;
}
function nameOf({ commonName, organizations }) {
  return new import_asn1_x509.Name([...organizations.map((o) => part(oids.organization, o)), part(oids.commonName, commonName)]);
}
function part(type, utf8String) {
  let value = new import_asn1_x509.AttributeValue({ utf8String });
  return new import_asn1_x509.RelativeDistinguishedName([new import_asn1_x509.AttributeTypeAndValue({ type, value })]);
}
function signerOf({ issuer, publicKey }, ownName) {
  if (issuer.certificate === "self") return { name: ownName, keyId: keyIdOf(publicKey) };
  let { raw, publicKey: issuerKey } = new X509Certificate(issuer.certificate), { subject, extensions = [] } = import_asn1_schema.AsnConvert.parse(raw, import_asn1_x509.Certificate).tbsCertificate, own = extensions.find(({ extnID }) => extnID === import_asn1_x509.id_ce_subjectKeyIdentifier);
  if (own === void 0) return { name: subject, keyId: keyIdOf(issuerKey) };
  let { buffer } = import_asn1_schema.AsnConvert.parse(own.extnValue.buffer, import_asn1_x509.SubjectKeyIdentifier);
  return { name: subject, keyId: Buffer.from(buffer) };
}
function keyIdOf(publicKey) {
  return createHash("sha256").update(publicKeyBits(publicKey)).digest().subarray(0, 20);
}
function publicKeyBits(publicKey) {
  let spki = spkiOf(publicKey);
  return isP256(publicKey) ? spki.subarray(-65) : spki;
}
function spkiOf(publicKey) {
  return publicKey.export({ type: "spki", format: "der" });
}
function extensionsOf(template, issuerKeyId) {
  let { authority = !1, publicKey } = template, constraints = authority ? { cA: !0, pathLenConstraint: 0 } : { cA: !1 }, keyId = new import_asn1_x509.SubjectKeyIdentifier(arrayBuffer(keyIdOf(publicKey))), keyIdentifier = new import_asn1_x509.KeyIdentifier(arrayBuffer(issuerKeyId));
  return [
    extension(import_asn1_x509.id_ce_basicConstraints, new import_asn1_x509.BasicConstraints(constraints), !0),
    ...usageExtensions(template.usages),
    extension(import_asn1_x509.id_ce_subjectKeyIdentifier, keyId),
    extension(import_asn1_x509.id_ce_authorityKeyIdentifier, new import_asn1_x509.AuthorityKeyIdentifier({ keyIdentifier })),
    ...nameExtensions(template.names ?? { dns: [], ips: [] })
  ];
}
function usageExtensions(usages) {
  let rows = [...new Set(usages)].map((usage) => usageTable[usage]), bits = rows.flatMap((row) => "bit" in row ? [row.bit] : []), purposes = rows.flatMap((row) => "purpose" in row ? [row.purpose] : []), flags = bits.reduce((sum, bit) => sum | 1 << bit, 0);
  return [
    ...bits.length > 0 ? [extension(import_asn1_x509.id_ce_keyUsage, new import_asn1_x509.KeyUsage(flags), !0)] : [],
    ...purposes.length > 0 ? [extension(import_asn1_x509.id_ce_extKeyUsage, new import_asn1_x509.ExtendedKeyUsage(purposes))] : []
  ];
}
function nameExtensions(names) {
  let { dns, ips } = canonicalNames(names), general = [...dns.map((dNSName) => ({ dNSName })), ...ips.map((iPAddress) => ({ iPAddress }))];
  if (general.length === 0) return [];
  let value = new import_asn1_x509.SubjectAlternativeName(general.map((name) => new import_asn1_x509.GeneralName(name)));
  return [extension(import_asn1_x509.id_ce_subjectAltName, value)];
}
function extension(extnID, value, critical = !1) {
  let extnValue = new import_asn1_schema.OctetString(import_asn1_schema.AsnConvert.serialize(value));
  return new import_asn1_x509.Extension({ extnID, critical, extnValue });
}
function arrayBuffer(bytes) {
  return new Uint8Array(bytes).buffer;
}
export {
  encodeCertificate
};
