// node_modules/@noble/hashes/_u64.js
var e = (e) => e / 2 ** 32 | 0, t = (e) => e >>> 0;
function n(n, r, i, a) {
	let o = e(i), s = t(i);
	n.setUint32(r, a ? s : o, a), n.setUint32(r + 4, a ? o : s, a);
}
// node_modules/@noble/hashes/utils.js
function r(e) {
	return e instanceof Uint8Array || ArrayBuffer.isView(e) && e.constructor.name === "Uint8Array" && "BYTES_PER_ELEMENT" in e && e.BYTES_PER_ELEMENT === 1;
}
var i = (e) => e ? `"${e}" ` : "";
function a(e, t = "") {
	if (typeof e != "number") throw TypeError(i(t) + "expected number, got " + typeof e);
	if (!Number.isSafeInteger(e) || e < 0) throw RangeError(i(t) + "expected integer >= 0, got " + e);
	return e;
}
function o(e, t, n = "") {
	if (r(e) && (t === void 0 || e.length === t)) return e;
	t !== void 0 && a(t, "length");
	let o = r(e), s = t === void 0 ? "" : ` of length ${t}`, c = o ? `length=${e.length}` : `type=${typeof e}`, l = i(n) + "expected Uint8Array" + s + ", got " + c;
	throw o ? RangeError(l) : TypeError(l);
}
var s = (e, t) => {
	if (typeof e != "object" || !e || Array.isArray(e)) throw TypeError((t === "object" ? "" : `"${t}" `) + "expected object, got type=" + typeof e);
}, c = (e, t) => {
	s(e, t);
	let n = Object.getPrototypeOf(e);
	if (n !== Object.prototype && n !== null) throw TypeError(`"${t}" expected plain object`);
	if (Object.hasOwn(e, "__proto__")) throw TypeError(`"${t}.__proto__" is not allowed`);
};
function l(e, t = !0) {
	if (e.destroyed) throw Error("hash was destroyed");
	if (t && e.finished) throw Error("digest() was already called");
}
function u(e, t) {
	o(e, void 0, "output");
	let n = t.outputLen;
	if (!(e.length >= n)) throw RangeError("\"output\" expected length >= " + n);
}
function d(...e) {
	for (let t = 0; t < e.length; t++) e[t].fill(0);
}
function f(e) {
	return new DataView(e.buffer, e.byteOffset, e.byteLength);
}
function p(e, t) {
	return e << 32 - t | e >>> t;
}
function m(e, t) {
	return e << t | e >>> 32 - t >>> 0;
}
var h = typeof Uint8Array.from([]).toHex == "function" && typeof Uint8Array.fromHex == "function", g = /* @__PURE__ */ Array.from({ length: 256 }, (e, t) => t.toString(16).padStart(2, "0"));
function _(e) {
	if (o(e), h) return e.toHex();
	let t = "";
	for (let n = 0; n < e.length; n++) t += g[e[n]];
	return t;
}
function ee(e) {
	if (typeof e != "string") throw TypeError("string expected");
	let t = new TextEncoder().encode(e);
	try {
		return new Uint8Array(t);
	} finally {
		d(t);
	}
}
function te(e, t, n = "opts") {
	return c(e, "defaults"), t !== void 0 && c(t, n), Object.assign(Object.create(null), e, t);
}
function ne(e, t = {}) {
	if (typeof e != "function") throw TypeError("\"hashCons\" expected function, got type=" + typeof e);
	t = te({}, t, "info");
	let n = (t, n) => e(n).update(t).digest(), r = e(void 0);
	return n.outputLen = r.outputLen, n.blockLen = r.blockLen, n.canXOF = r.canXOF, n.create = (t) => e(t), Object.assign(n, t), Object.freeze(n);
}
var re = (e) => ({ oid: Uint8Array.from([
	6,
	9,
	96,
	134,
	72,
	1,
	101,
	3,
	4,
	2,
	e
]) });
// node_modules/@noble/hashes/_md.js
function ie(e, t, n) {
	return e & t ^ ~e & n;
}
function ae(e, t, n) {
	return e & t ^ e & n ^ t & n;
}
var oe = class {
	blockLen;
	outputLen;
	canXOF = !1;
	padOffset;
	isLE;
	buffer;
	view;
	finished = !1;
	length = 0;
	pos = 0;
	destroyed = !1;
	constructor(e, t, n, r) {
		this.blockLen = e, this.outputLen = t, this.padOffset = n, this.isLE = r, this.buffer = new Uint8Array(e), this.view = f(this.buffer);
	}
	update(e) {
		l(this), o(e);
		let { view: t, buffer: n, blockLen: r } = this, i = e.length, a = !1;
		for (let o = 0; o < i;) {
			let s = Math.min(r - this.pos, i - o);
			if (s === r) {
				let t = f(e);
				for (; r <= i - o; o += r) this.process(t, o);
				a = !0;
			} else n.set(o === 0 && s === i ? e : e.subarray(o, o + s), this.pos), this.pos += s, o += s, this.pos === r && (this.process(t, 0), this.pos = 0, a = !0);
		}
		return this.length += e.length, a && this.roundClean(), this;
	}
	digestInto(e) {
		l(this), u(e, this), this.finished = !0;
		let { buffer: t, view: r, blockLen: i, isLE: a } = this, { pos: o } = this;
		t[o++] = 128, t.fill(0, o), this.padOffset > i - o && (this.process(r, 0), t.fill(0)), n(r, i - 8, this.length * 8, a), this.process(r, 0), this.roundClean();
		let s = e === t ? r : f(e), c = this.outputLen, d = c / 4, p = this.get();
		if (c % 4 || d > p.length) throw Error("invalid outputLen");
		for (let e = 0; e < d; e++) s.setUint32(4 * e, p[e], a);
	}
	digest() {
		let { buffer: e, outputLen: t } = this;
		this.digestInto(e);
		let n = e.slice(0, t);
		return this.destroy(), n;
	}
	_cloneIntoMeta(e) {
		let { buffer: t, length: n, finished: r, destroyed: i, pos: a } = this;
		return e.destroyed = i, e.finished = r, e.length = n, e.pos = a, a && e.buffer.set(t), e;
	}
	clone() {
		return this._cloneInto();
	}
}, se = /* @__PURE__ */ Uint32Array.from([
	1779033703,
	3144134277,
	1013904242,
	2773480762,
	1359893119,
	2600822924,
	528734635,
	1541459225
]), ce = /* @__PURE__ */ Uint32Array.from([
	1116352408,
	1899447441,
	3049323471,
	3921009573,
	961987163,
	1508970993,
	2453635748,
	2870763221,
	3624381080,
	310598401,
	607225278,
	1426881987,
	1925078388,
	2162078206,
	2614888103,
	3248222580,
	3835390401,
	4022224774,
	264347078,
	604807628,
	770255983,
	1249150122,
	1555081692,
	1996064986,
	2554220882,
	2821834349,
	2952996808,
	3210313671,
	3336571891,
	3584528711,
	113926993,
	338241895,
	666307205,
	773529912,
	1294757372,
	1396182291,
	1695183700,
	1986661051,
	2177026350,
	2456956037,
	2730485921,
	2820302411,
	3259730800,
	3345764771,
	3516065817,
	3600352804,
	4094571909,
	275423344,
	430227734,
	506948616,
	659060556,
	883997877,
	958139571,
	1322822218,
	1537002063,
	1747873779,
	1955562222,
	2024104815,
	2227730452,
	2361852424,
	2428436474,
	2756734187,
	3204031479,
	3329325298
]), v = /* @__PURE__ */ new Uint32Array(64), le = class extends oe {
	A = 0;
	B = 0;
	C = 0;
	D = 0;
	E = 0;
	F = 0;
	G = 0;
	H = 0;
	constructor(e, t) {
		super(64, e, 8, !1), this.A = t[0] | 0, this.B = t[1] | 0, this.C = t[2] | 0, this.D = t[3] | 0, this.E = t[4] | 0, this.F = t[5] | 0, this.G = t[6] | 0, this.H = t[7] | 0;
	}
	get() {
		let { A: e, B: t, C: n, D: r, E: i, F: a, G: o, H: s } = this;
		return [
			e,
			t,
			n,
			r,
			i,
			a,
			o,
			s
		];
	}
	set(e, t, n, r, i, a, o, s) {
		this.A = e | 0, this.B = t | 0, this.C = n | 0, this.D = r | 0, this.E = i | 0, this.F = a | 0, this.G = o | 0, this.H = s | 0;
	}
	_cloneInto(e) {
		return (e ||= new this.constructor()).set(...this.get()), this._cloneIntoMeta(e);
	}
	process(e, t) {
		for (let n = 0; n < 16; n++, t += 4) v[n] = e.getUint32(t, !1);
		for (let e = 16; e < 64; e++) {
			let t = v[e - 15], n = v[e - 2], r = p(t, 7) ^ p(t, 18) ^ t >>> 3, i = p(n, 17) ^ p(n, 19) ^ n >>> 10;
			v[e] = i + v[e - 7] + r + v[e - 16] | 0;
		}
		let { A: n, B: r, C: i, D: a, E: o, F: s, G: c, H: l } = this;
		for (let e = 0; e < 64; e++) {
			let t = p(o, 6) ^ p(o, 11) ^ p(o, 25), u = l + t + ie(o, s, c) + ce[e] + v[e] | 0, d = (p(n, 2) ^ p(n, 13) ^ p(n, 22)) + ae(n, r, i) | 0;
			l = c, c = s, s = o, o = a + u | 0, a = i, i = r, r = n, n = u + d | 0;
		}
		n = n + this.A | 0, r = r + this.B | 0, i = i + this.C | 0, a = a + this.D | 0, o = o + this.E | 0, s = s + this.F | 0, c = c + this.G | 0, l = l + this.H | 0, this.set(n, r, i, a, o, s, c, l);
	}
	roundClean() {
		d(v);
	}
	destroy() {
		this.destroyed = !0, this.set(0, 0, 0, 0, 0, 0, 0, 0), d(this.buffer);
	}
}, ue = class extends le {
	constructor() {
		super(32, se);
	}
}, de = /* @__PURE__ */ ne(() => new ue(), /* @__PURE__ */ re(1)), fe = "fencepost", y = class extends Error {
	name = "NameInvalid";
};
function pe(e) {
	let t = me(e, 200);
	if (t) throw new y(`The lease name ${x(e)} ${t}. A good one: blog-main`);
	return e;
}
function me(e, t) {
	let n = [...e].length;
	return e.trim() === "" ? "is empty" : n > t ? `is ${n} characters long, and ${t} is the most` : e === e.trim() ? /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(e) ? "contains a control character" : e.isWellFormed() ? e.split("/").some((e) => e === "" || e === "." || e === "..") ? "has an empty, `.` or `..` segment between its slashes" : null : "is not valid Unicode" : "begins or ends with a space";
}
function he(e, t) {
	return `${e}/${_e(t)}`;
}
function b(e, t) {
	return `refs/heads/${e}/${t}`;
}
function ge(e, t) {
	let n = `refs/heads/${e}/`;
	return t.startsWith(n) ? t.slice(n.length) : null;
}
function _e(e) {
	return /^[a-z0-9][a-z0-9._-]{0,99}$/.test(e) && !/\.\.|\.$|\.lock$/.test(e) && !/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/.test(e) ? e : `${e.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "")}=${_(de(ee(e))).slice(0, 24)}`;
}
function ve(e) {
	if (/^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/.test(e) && e.length <= 100) return e;
	throw new y(`The ref prefix ${x(e)} cannot be used: it takes lower-case letters, digits, "_" and "-", with "/" between parts. A good one: ${fe}`);
}
function ye(e, t) {
	let n = e.startsWith("refs/heads/") ? e : `refs/heads/${e}`, r = e.startsWith("refs/") && n !== e ? "is a full ref, and not of a branch" : xe(n);
	if (r) throw new y(`The branch name ${x(e)} ${r}. A good one: main`);
	if (be(t, n)) throw new y(`The branch ${x(e)} is one of Fencepost's own records. Push to another branch.`);
	return n;
}
function be(e, t) {
	let [n, r] = [`refs/heads/${e}`, t.toLowerCase()];
	return r === n || r.startsWith(`${n}/`);
}
function xe(e) {
	let t = e.split("/");
	return t.length < 3 || t.some((e) => e === "") ? "has an empty part" : t.some((e) => e.startsWith(".") || e.endsWith(".lock")) ? "has a part that begins with \".\" or ends with \".lock\"" : /\.\.|@\{|[\u0000-\u0020\u007f~^:?*[\\]/.test(e) || e.endsWith(".") ? "has a character or a sequence that git does not allow" : t[2]?.startsWith("-") ? "begins with \"-\"" : null;
}
function x(e) {
	let t = [...e];
	return JSON.stringify(t.length > 60 ? `${t.slice(0, 60).join("")}…` : e).replace(/[\u007f-\u009f\u2028\u2029]/g, (e) => `\\u${e.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
// node_modules/valibot/dist/index.mjs
var Se = {
	lang: void 0,
	message: void 0,
	abortEarly: void 0,
	abortPipeEarly: void 0
};
/* @__NO_SIDE_EFFECTS__ */
function Ce(e) {
	return e ? {
		lang: e?.lang ?? void 0,
		message: e?.message,
		abortEarly: e?.abortEarly ?? void 0,
		abortPipeEarly: e?.abortPipeEarly ?? void 0
	} : Se;
}
/* @__NO_SIDE_EFFECTS__ */
function S(e) {
	let t = typeof e;
	return t === "string" ? `"${e}"` : t === "number" || t === "bigint" || t === "boolean" ? `${e}` : t === "object" || t === "function" ? (e && Object.getPrototypeOf(e)?.constructor?.name) ?? "null" : t;
}
function C(e, t, n, r, i) {
	let a = i && "input" in i ? i.input : n.value, o = i?.expected ?? e.expects ?? null, s = i?.received ?? /* @__PURE__ */ S(a), c = {
		kind: e.kind,
		type: e.type,
		input: a,
		expected: o,
		received: s,
		message: `Invalid ${t}: ${o ? `Expected ${o} but r` : "R"}eceived ${s}`,
		requirement: e.requirement,
		path: i?.path,
		issues: i?.issues,
		lang: r.lang,
		abortEarly: r.abortEarly,
		abortPipeEarly: r.abortPipeEarly
	}, l = e.kind === "schema", u = i?.message ?? e.message ?? (e.reference, c.lang, void 0) ?? (l ? (c.lang, void 0) : null) ?? r.message ?? (c.lang, void 0);
	u !== void 0 && (c.message = typeof u == "function" ? u(c) : u), l && (n.typed = !1), n.issues ? n.issues.push(c) : n.issues = [c];
}
/* @__NO_SIDE_EFFECTS__ */
function we(e, t) {
	return e === t || Number.isNaN(e) && Number.isNaN(t);
}
/* @__NO_SIDE_EFFECTS__ */
function Te(e, t) {
	return Object.prototype.hasOwnProperty.call(e, t) && t !== "__proto__" && t !== "prototype" && t !== "constructor";
}
/* @__NO_SIDE_EFFECTS__ */
function Ee(e, t) {
	let n = [...new Set(e)];
	return n.length > 1 ? `(${n.join(` ${t} `)})` : n[0] ?? "never";
}
function w(e) {
	return e["~standard"] = {
		version: 1,
		vendor: "valibot",
		validate: (t) => e["~run"]({ value: t }, /* @__PURE__ */ Ce())
	}, e;
}
/* @__NO_SIDE_EFFECTS__ */
function De(e) {
	if (e.path) {
		let t = "";
		for (let n of e.path) if (typeof n.key == "string" || typeof n.key == "number") t += t ? `.${n.key}` : n.key;
		else return null;
		return t;
	}
	return null;
}
var Oe = class extends Error {
	constructor(e) {
		super(e[0].message), this.name = "ValiError", this.issues = e;
	}
}, ke = /^\d{4}-(?:0[1-9]|1[0-2])-(?:[12]\d|0[1-9]|3[01])[T ](?:0\d|1\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:Z| ?[+-](?:0\d|1\d|2[0-3])(?::?[0-5]\d)?)$/u;
/* @__NO_SIDE_EFFECTS__ */
function Ae(e) {
	return {
		kind: "validation",
		type: "integer",
		reference: Ae,
		async: !1,
		expects: null,
		requirement: Number.isInteger,
		message: e,
		"~run"(e, t) {
			return e.typed && !this.requirement(e.value) && C(this, "integer", e, t), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function je(e) {
	return {
		kind: "validation",
		type: "iso_timestamp",
		reference: je,
		async: !1,
		expects: null,
		requirement: ke,
		message: e,
		"~run"(e, t) {
			return e.typed && !this.requirement.test(e.value) && C(this, "timestamp", e, t), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function Me(e, t) {
	return {
		kind: "validation",
		type: "max_length",
		reference: Me,
		async: !1,
		expects: `<=${e}`,
		requirement: e,
		message: t,
		"~run"(e, t) {
			return e.typed && e.value.length > this.requirement && C(this, "length", e, t, { received: `${e.value.length}` }), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function Ne(e, t) {
	return {
		kind: "validation",
		type: "min_length",
		reference: Ne,
		async: !1,
		expects: `>=${e}`,
		requirement: e,
		message: t,
		"~run"(e, t) {
			return e.typed && e.value.length < this.requirement && C(this, "length", e, t, { received: `${e.value.length}` }), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function T(e, t) {
	return {
		kind: "validation",
		type: "min_value",
		reference: T,
		async: !1,
		expects: `>=${e instanceof Date ? e.toJSON() : /* @__PURE__ */ S(e)}`,
		requirement: e,
		message: t,
		"~run"(e, t) {
			return e.typed && !(e.value >= this.requirement) && C(this, "value", e, t, { received: e.value instanceof Date ? e.value.toJSON() : /* @__PURE__ */ S(e.value) }), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function E(e, t) {
	return {
		kind: "validation",
		type: "regex",
		reference: E,
		async: !1,
		expects: `${e}`,
		requirement: e,
		message: t,
		"~run"(e, t) {
			return e.typed && !this.requirement.test(e.value) && C(this, "format", e, t), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function D(e) {
	return {
		kind: "validation",
		type: "safe_integer",
		reference: D,
		async: !1,
		expects: null,
		requirement: Number.isSafeInteger,
		message: e,
		"~run"(e, t) {
			return e.typed && !this.requirement(e.value) && C(this, "safe integer", e, t), e;
		}
	};
}
/* @__NO_SIDE_EFFECTS__ */
function Pe(e, t, n) {
	return typeof e.fallback == "function" ? e.fallback(t, n) : e.fallback;
}
/* @__NO_SIDE_EFFECTS__ */
function Fe(e, t) {
	return w({
		...e,
		fallback: t,
		"~run"(t, n) {
			let r = e["~run"](t, n);
			return r.issues ? {
				typed: !0,
				value: /* @__PURE__ */ Pe(this, r, n)
			} : r;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function Ie(e, t, n) {
	return typeof e.default == "function" ? e.default(t, n) : e.default;
}
/* @__NO_SIDE_EFFECTS__ */
function Le(e, t) {
	return w({
		kind: "schema",
		type: "array",
		reference: Le,
		expects: "Array",
		async: !1,
		item: e,
		message: t,
		"~run"(e, t) {
			let n = e.value;
			if (Array.isArray(n)) {
				e.typed = !0, e.value = [];
				for (let r = 0; r < n.length; r++) {
					let i = n[r], a = this.item["~run"]({ value: i }, t);
					if (a.issues) {
						let o = {
							type: "array",
							origin: "value",
							input: n,
							key: r,
							value: i
						};
						for (let t of a.issues) t.path ? t.path.unshift(o) : t.path = [o], e.issues?.push(t);
						if (e.issues ||= a.issues, t.abortEarly) {
							e.typed = !1;
							break;
						}
					}
					a.typed || (e.typed = !1), e.value.push(a.value);
				}
			} else C(this, "type", e, t);
			return e;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function Re(e, t) {
	return w({
		kind: "schema",
		type: "literal",
		reference: Re,
		expects: /* @__PURE__ */ S(e),
		async: !1,
		literal: e,
		message: t,
		"~run"(e, t) {
			return /* @__PURE__ */ we(e.value, this.literal) ? e.typed = !0 : C(this, "type", e, t), e;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function O(e, t) {
	return w({
		kind: "schema",
		type: "loose_object",
		reference: O,
		expects: "Object",
		async: !1,
		entries: e,
		message: t,
		"~run"(e, t) {
			let n = e.value;
			if (n && typeof n == "object") {
				e.typed = !0, e.value = {};
				for (let r in this.entries) {
					let i = this.entries[r];
					if (r in n || (i.type === "exact_optional" || i.type === "optional" || i.type === "nullish") && i.default !== void 0) {
						let a = r in n ? n[r] : /* @__PURE__ */ Ie(i), o = i["~run"]({ value: a }, t);
						if (o.issues) {
							let i = {
								type: "object",
								origin: "value",
								input: n,
								key: r,
								value: a
							};
							for (let t of o.issues) t.path ? t.path.unshift(i) : t.path = [i], e.issues?.push(t);
							if (e.issues ||= o.issues, t.abortEarly) {
								e.typed = !1;
								break;
							}
						}
						o.typed || (e.typed = !1), e.value[r] = o.value;
					} else if (i.fallback !== void 0) e.value[r] = /* @__PURE__ */ Pe(i);
					else if (i.type !== "exact_optional" && i.type !== "optional" && i.type !== "nullish" && (C(this, "key", e, t, {
						input: void 0,
						expected: `"${r}"`,
						path: [{
							type: "object",
							origin: "key",
							input: n,
							key: r,
							value: n[r]
						}]
					}), t.abortEarly)) break;
				}
				if (!e.issues || !t.abortEarly) for (let t in n) /* @__PURE__ */ Te(n, t) && !Object.prototype.hasOwnProperty.call(this.entries, t) && (e.value[t] = n[t]);
			} else C(this, "type", e, t);
			return e;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function ze(e, t) {
	return w({
		kind: "schema",
		type: "nullable",
		reference: ze,
		expects: `(${e.expects} | null)`,
		async: !1,
		wrapped: e,
		default: t,
		"~run"(e, t) {
			return e.value === null && (this.default !== void 0 && (e.value = /* @__PURE__ */ Ie(this, e, t)), e.value === null) ? (e.typed = !0, e) : this.wrapped["~run"](e, t);
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function k(e) {
	return w({
		kind: "schema",
		type: "number",
		reference: k,
		expects: "number",
		async: !1,
		message: e,
		"~run"(e, t) {
			return typeof e.value == "number" && !isNaN(e.value) ? e.typed = !0 : C(this, "type", e, t), e;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function A(e, t) {
	return w({
		kind: "schema",
		type: "optional",
		reference: A,
		expects: `(${e.expects} | undefined)`,
		async: !1,
		wrapped: e,
		default: t,
		"~run"(e, t) {
			return e.value === void 0 && (this.default !== void 0 && (e.value = /* @__PURE__ */ Ie(this, e, t)), e.value === void 0) ? (e.typed = !0, e) : this.wrapped["~run"](e, t);
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function Be(e, t) {
	return w({
		kind: "schema",
		type: "picklist",
		reference: Be,
		expects: /* @__PURE__ */ Ee(e.map(S), "|"),
		async: !1,
		options: e,
		message: t,
		"~run"(e, t) {
			return this.options.includes(e.value) ? e.typed = !0 : C(this, "type", e, t), e;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function Ve(e, t, n) {
	return w({
		kind: "schema",
		type: "record",
		reference: Ve,
		expects: "Object",
		async: !1,
		key: e,
		value: t,
		message: n,
		"~run"(e, t) {
			let n = e.value;
			if (n && typeof n == "object") {
				e.typed = !0, e.value = {};
				for (let r in n) if (/* @__PURE__ */ Te(n, r)) {
					let i = n[r], a = this.key["~run"]({ value: r }, t);
					if (a.issues) {
						let o = {
							type: "object",
							origin: "key",
							input: n,
							key: r,
							value: i
						};
						for (let t of a.issues) t.path = [o], e.issues?.push(t);
						if (e.issues ||= a.issues, t.abortEarly) {
							e.typed = !1;
							break;
						}
					}
					let o = this.value["~run"]({ value: i }, t);
					if (o.issues) {
						let a = {
							type: "object",
							origin: "value",
							input: n,
							key: r,
							value: i
						};
						for (let t of o.issues) t.path ? t.path.unshift(a) : t.path = [a], e.issues?.push(t);
						if (e.issues ||= o.issues, t.abortEarly) {
							e.typed = !1;
							break;
						}
					}
					a.typed && o.typed || (e.typed = !1), a.typed && (e.value[a.value] = o.value);
				}
			} else C(this, "type", e, t);
			return e;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function j(e) {
	return w({
		kind: "schema",
		type: "string",
		reference: j,
		expects: "string",
		async: !1,
		message: e,
		"~run"(e, t) {
			return typeof e.value == "string" ? e.typed = !0 : C(this, "type", e, t), e;
		}
	});
}
function He(e, t, n) {
	let r = e["~run"]({ value: t }, /* @__PURE__ */ Ce(n));
	if (r.issues) throw new Oe(r.issues);
	return r.value;
}
/* @__NO_SIDE_EFFECTS__ */
function M(...e) {
	return w({
		...e[0],
		pipe: e,
		"~run"(t, n) {
			for (let r of e) if (r.kind !== "metadata") {
				if (t.issues && (r.kind === "schema" || r.kind === "transformation")) {
					t.typed = !1;
					break;
				}
				t.issues && (n.abortEarly || n.abortPipeEarly) || (t = r["~run"](t, n));
			}
			return t;
		}
	});
}
/* @__NO_SIDE_EFFECTS__ */
function Ue(e, t, n) {
	let r = e["~run"]({ value: t }, /* @__PURE__ */ Ce(n));
	return {
		typed: r.typed,
		success: !r.issues,
		output: r.value,
		issues: r.issues
	};
}
// node_modules/.fencepost-build/src/protocol/claim.js
var N = /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ Me(300)), We = /* @__PURE__ */ O({
	id: /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ E(/^[A-Za-z0-9-]{8,64}$/)),
	repository: /* @__PURE__ */ A(N),
	runId: /* @__PURE__ */ A(N),
	runAttempt: /* @__PURE__ */ A(/* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ Ae(), /* @__PURE__ */ T(1))),
	workflow: /* @__PURE__ */ A(N),
	job: /* @__PURE__ */ A(N),
	leg: /* @__PURE__ */ A(N),
	host: /* @__PURE__ */ A(N),
	pid: /* @__PURE__ */ A(/* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ Ae())),
	url: /* @__PURE__ */ A(/* @__PURE__ */ M(N, /* @__PURE__ */ E(/^https?:\/\//)))
});
function Ge(e) {
	let t = /* @__PURE__ */ Ue(We, e);
	if (t.success) return t.output;
	let [n] = t.issues;
	throw TypeError(`The claim cannot be used: ${/* @__PURE__ */ De(n) ?? "it"}: ${n.message}.`);
}
function Ke(e, t) {
	return e.id === t.id;
}
function qe(e, t) {
	return e.runId !== void 0 && e.runId === t.runId && e.repository === t.repository && e.runAttempt !== void 0 && t.runAttempt !== void 0 && e.runAttempt < t.runAttempt;
}
function P(e) {
	let t = e.runId === void 0 ? [e.host ?? "unknown host", ...e.pid === void 0 ? [] : [`process ${e.pid}`]].join(" ") : `${e.repository ?? "?"} run ${e.runId}.${e.runAttempt ?? 1}`, n = [e.job, e.leg].filter((e) => e !== void 0 && e !== "").join(", ");
	return Je(n === "" ? t : `${t} (${n})`);
}
function Je(e) {
	return e.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}
// node_modules/parse-duration/locale/en.js
var F = Object.create(null), Ye = 6e4, Xe = Ye * 60, Ze = Xe * 24, Qe = Ze * 365.25;
F.year = F.yr = F.y = Qe, F.month = F.mo = F.mth = Qe / 12, F.week = F.wk = F.w = Ze * 7, F.day = F.d = Ze, F.hour = F.hr = F.h = Xe, F.minute = F.min = F.m = Ye, F.second = F.sec = F.s = 1e3, F.millisecond = F.millisec = F.ms = 1, F.microsecond = F.microsec = F.us = F.µs = .001, F.nanosecond = F.nanosec = F.ns = 1e-6, F.group = ",", F.decimal = ".", F.placeholder = " _";
// node_modules/parse-duration/index.js
var $e = /((?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([\p{L}]{0,14})/gu;
it.unit = F;
var et, tt = null, nt, rt = (e, t) => (t = String(t).toLowerCase(), e[t] ?? (t.endsWith("s") ? e[t.slice(0, -1)] : void 0));
function it(e = "", t = "ms") {
	let n = null, r, i = it.unit;
	(i.placeholder !== tt || i.group !== nt) && (et = RegExp(`(\\d)[${(tt = i.placeholder) ?? ""}${(nt = i.group) ?? ""}](\\d)`, "g")), e = String(e);
	let a = e.replace(et, "$1$2");
	i.decimal !== "." && (a = a.replaceAll(i.decimal, ".")), $e.lastIndex = 0;
	for (let e; e = $e.exec(a);) {
		let a = e[2];
		if (!a) {
			if (r) {
				for (let e in i) if (i[e] < r) {
					a = e;
					break;
				}
			} else a = t;
		}
		r = a = rt(i, a), typeof a == "number" && (n = (n || 0) + e[1] * a);
	}
	return n && n / (rt(i, t) || 1) * (e.trimStart()[0] === "-" ? -1 : 1);
}
// node_modules/.fencepost-build/src/protocol/duration.js
var at = class extends Error {
	name = "DurationInvalid";
};
function ot(e, t, n) {
	let r = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(t.trim()) ? it(t.trim()) : null;
	if (r === null || !Number.isFinite(r)) throw new at(`${e}: ${x(t)} is not a duration. Good ones: 90s, 15m, 1h30m`);
	if (r < n.least || r > n.most) throw new at(`${e}: ${x(t)} is out of range; it takes ${I(n.least)} to ${I(n.most)}. A good one: 15m`);
	return Math.round(r);
}
function I(e) {
	if (!Number.isFinite(e)) return "an unknown time";
	let t = Math.max(0, Math.round(e));
	if (t < 1e3) return t === 0 ? "0s" : `${t}ms`;
	let n = Math.round(t / 1e3), r = [
		["d", 86400],
		["h", 3600],
		["m", 60],
		["s", 1]
	].map(([e, t], r, i) => {
		let a = i[r - 1]?.[1];
		return [Math.floor((a ? n % a : n) / t), e];
	}), i = r.findIndex(([e]) => e > 0);
	return r.slice(i, i + 2).filter(([e]) => e > 0).map(([e, t]) => `${e}${t}`).join("");
}
var st = {
	fencepost: /* @__PURE__ */ Re(1),
	name: /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ Ne(1)),
	event: /* @__PURE__ */ j(),
	previous: /* @__PURE__ */ ze(/* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ E(/^[0-9a-f]{40,64}$/))),
	depth: /* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ Ae(), /* @__PURE__ */ T(1)),
	nonce: /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ Ne(8))
}, L = class extends Error {
	record;
	problem;
	why;
	advice;
	name = "RecordInvalid";
	constructor(e, t, n, r = "") {
		super(r === "" ? n : `${n}. ${r}`), this.record = e, this.problem = t, this.why = n, this.advice = r;
	}
};
function ct(e, t) {
	return `${e}\n\n${lt(JSON.stringify(t, null, 2))}\n`;
}
function lt(e) {
	return e.replace(/\{\n +([^{}[\]]*?)\n +\}/g, (e, t) => `{ ${t.replace(/\n +/g, " ")} }`);
}
function ut(e, t, n) {
	let r = `The record ${n.name} (commit ${n.oid.slice(0, 10)})`, i = "Put its branch back to its last good commit; deleting it would restart the token.", a = dt(n.message);
	if (ft(a)) throw new L(n.name, "newer", `${r} has format ${a.fencepost}, which is newer than the 1 that this Fencepost reads`, "Upgrade Fencepost here.");
	let o = /* @__PURE__ */ Ue(t, a);
	if (!o.success) throw new L(n.name, "broken", `${r} is not a Fencepost record: ${pt(a, o.issues)}`, i);
	let s = o.output;
	if (he(e, s.name) !== n.name) throw new L(n.name, "misplaced", `${r} belongs to ${x(s.name)}, not to this branch`, i);
	let c = s.depth === 1 ? void 0 : s.previous ?? "none";
	if (n.parents.length > 1 || n.parents[0] !== c) throw new L(n.name, "chain", `${r} does not follow the commit that it says it replaced, so its history was rewritten`, i);
	return s;
}
function dt(e) {
	let t = e.indexOf("\n\n");
	if (!(t < 0)) try {
		return JSON.parse(e.slice(t + 2));
	} catch {
		return;
	}
}
function ft(e) {
	let t = e?.fencepost;
	return typeof t == "number" && t > 1;
}
function pt(e, t) {
	if (e === void 0) return "its commit message holds no JSON document";
	let n = t[0];
	return n ? `${/* @__PURE__ */ De(n) ?? "document"}: ${n.message}` : "unknown";
}
// node_modules/.fencepost-build/src/protocol/slots.js
var mt = 50;
function ht(e = {}, t = {}) {
	let n = Object.entries({
		...e,
		...t
	}).sort(([, e], [, t]) => Date.parse(t) - Date.parse(e));
	return n.length === 0 ? {} : { slots: Object.fromEntries(n.slice(0, mt)) };
}
// node_modules/.fencepost-build/src/protocol/tally.js
var gt = 100, _t = 200, vt = /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ E(/^\d{4}-\d\d-\d\d$/)), R = /* @__PURE__ */ A(/* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ D(), /* @__PURE__ */ T(0))), yt = {
	days: /* @__PURE__ */ A(/* @__PURE__ */ Fe(/* @__PURE__ */ Ve(vt, /* @__PURE__ */ O({
		acquired: R,
		pushed: R,
		expired: R,
		finished: R,
		retried: R,
		unlocked: R
	})), {})),
	recent: /* @__PURE__ */ A(/* @__PURE__ */ Fe(/* @__PURE__ */ Le(/* @__PURE__ */ O({
		token: /* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ D(), /* @__PURE__ */ T(1)),
		who: /* @__PURE__ */ j(),
		url: /* @__PURE__ */ A(/* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ E(/^https?:\/\//))),
		from: /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ je()),
		to: /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ je()),
		end: /* @__PURE__ */ Be([
			"released",
			"expired",
			"finished",
			"retried",
			"unlocked"
		]),
		pushed: R
	})), [])),
	pushes: /* @__PURE__ */ A(/* @__PURE__ */ Fe(/* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ D(), /* @__PURE__ */ T(0)), 0))
};
function bt(e, t, n) {
	let r = t === "new" || t === "released" ? [] : [t], i = kt(e?.record.days, n, ["acquired", ...r]);
	return e === null || t === "new" ? { days: i } : e.record.event === "unlocked" ? {
		days: i,
		recent: e.record.recent ?? []
	} : {
		days: i,
		recent: Ct(e, t, n)
	};
}
function xt(e, t) {
	return {
		days: kt(e.record.days, t, ["pushed"]),
		pushes: (e.record.pushes ?? 0) + 1
	};
}
function St(e, t) {
	return {
		days: kt(e.record.days, t, ["unlocked"]),
		recent: Ct(e, "unlocked", t)
	};
}
function Ct(e, t, n) {
	let { token: r, holder: i, since: a, recent: o = [], pushes: s = 0 } = e.record, c = {
		token: r,
		who: Tt(P(i)),
		...i.url !== void 0 && i.url.length <= _t ? { url: i.url } : {},
		from: a,
		to: new Date(wt(e, t, n)).toISOString(),
		end: t,
		...s > 0 ? { pushed: s } : {}
	};
	return [...o, c].slice(-8);
}
function wt(e, t, n) {
	let r = t === "released" ? e.writtenAt : e.writtenAt + e.record.ttl;
	return r <= n && r >= Date.parse(e.record.since) ? r : n;
}
function Tt(e) {
	return e.length > gt ? `${e.slice(0, 99).toWellFormed()}…` : e;
}
function Et(e) {
	return new Date(e).toISOString().slice(0, 10);
}
var Dt = 864e5;
function Ot(e, t) {
	let n = Et(t + Dt);
	return e?.[n] === void 0 ? Et(t) : n;
}
function kt(e, t, n) {
	let r = Ot(e, t), i = Et(Date.parse(r) - 34 * Dt), a = Object.entries(e ?? {}).filter(([e]) => e >= i && e <= r), o = { ...e?.[r] };
	for (let e of n) o[e] = Math.min((o[e] ?? 0) + 1, 2 ** 53 - 1);
	return Object.fromEntries([...a.filter(([e]) => e !== r), [r, o]]);
}
// node_modules/.fencepost-build/src/protocol/lease.js
var At = /* @__PURE__ */ O({
	...st,
	kind: /* @__PURE__ */ Re("lease"),
	event: /* @__PURE__ */ Be([
		"acquired",
		"renewed",
		"pushed",
		"released",
		"unlocked"
	]),
	token: /* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ D(), /* @__PURE__ */ T(1)),
	state: /* @__PURE__ */ Be(["held", "released"]),
	ttl: /* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ Ae(), /* @__PURE__ */ T(1)),
	holder: We,
	since: /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ je()),
	published: /* @__PURE__ */ A(/* @__PURE__ */ Ve(/* @__PURE__ */ j(), /* @__PURE__ */ j())),
	unlock: /* @__PURE__ */ A(/* @__PURE__ */ O({
		by: /* @__PURE__ */ j(),
		reason: /* @__PURE__ */ j()
	})),
	...yt,
	slots: /* @__PURE__ */ A(/* @__PURE__ */ Ve(/* @__PURE__ */ j(), /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ je())))
}), jt = class extends Error {
	name = "TokenRegressed";
};
function z(e) {
	return e === null ? null : {
		record: ut("lease", At, e),
		oid: e.oid,
		writtenAt: e.writtenAt
	};
}
function B(e) {
	return he("lease", e);
}
function Mt(e) {
	return ct(Nt(e), He(At, e));
}
function Nt(e) {
	let t = Je(`lease ${e.name} #${e.token}`), n = P(e.holder);
	switch (e.event) {
		case "acquired": return `${t} acquired by ${n} for ${I(e.ttl)}`;
		case "renewed": return `${t} renewed by ${n} for ${I(e.ttl)}`;
		case "pushed": return Je(`${t} pushed ${Pt(e.published ?? {})} by ${n}`);
		case "released": return `${t} released by ${n}`;
		case "unlocked": return Je(`${t} unlocked by ${e.unlock?.by ?? "?"}: ${e.unlock?.reason ?? "?"}`);
	}
}
function Pt(e) {
	let t = Object.entries(e).map(([e, t]) => `${e.replace(/^refs\/(heads|tags)\//, "")} ${t.slice(0, 10)}`);
	return t.length > 4 ? `${t.slice(0, 4).join(", ")} and ${t.length - 4} more` : t.join(", ");
}
function Ft(e) {
	return Math.min(3e4, Math.floor(e / 3));
}
function V(e) {
	return e.writtenAt + e.record.ttl;
}
function It(e, t) {
	Rt(t.lease, e, t.witness ?? 0);
	let n = Lt(e, t);
	if (e !== null && n === null) return {
		outcome: "refuse",
		holding: e,
		expiresAt: V(e)
	};
	let r = e === null || e.record.depth >= 500 && t.keepChain !== !0, i = {
		fencepost: 1,
		kind: "lease",
		name: t.lease,
		token: (e?.record.token ?? 0) + 1,
		state: "held",
		ttl: t.ttl,
		holder: t.claim,
		since: new Date(t.now).toISOString(),
		...e?.record.slots ? { slots: e.record.slots } : {},
		event: "acquired",
		previous: e?.oid ?? null,
		depth: r ? 1 : (e?.record.depth ?? 0) + 1,
		nonce: t.nonce,
		...bt(e, n ?? "new", t.now)
	};
	return {
		outcome: "grant",
		reason: n ?? "new",
		write: {
			record: i,
			expected: e?.oid ?? null,
			root: r
		}
	};
}
function Lt(e, t) {
	return e === null ? "new" : e.record.state === "released" ? "released" : t.holderFinished === !0 ? "finished" : qe(e.record.holder, t.claim) ? "retried" : (t.unchangedFor ?? 0) >= e.record.ttl || t.now >= V(e) + t.skew ? "expired" : null;
}
function Rt(e, t, n) {
	let r = t?.record.token ?? 0;
	if (!(r >= n)) throw new jt(`The lease ${x(e)} went backwards: token ${n} was seen before, and now ${r === 0 ? "its record is gone" : `it says ${r}`}. Nothing was written. Put its branch back to its last good commit before anything runs again.`);
}
function zt(e, t) {
	return e !== null && e.record.state === "held" && e.record.token === t.token && Ke(e.record.holder, t.claim);
}
function Bt(e, t, n) {
	if (!zt(e, t)) return null;
	let { published: r, unlock: i, ...a } = e.record;
	return {
		record: {
			...a,
			state: n.event === "released" ? "released" : "held",
			event: n.event,
			previous: e.oid,
			depth: e.record.depth + 1,
			nonce: n.nonce,
			...ht(e.record.slots, n.slots),
			...n.event === "pushed" ? {
				published: n.published,
				...xt(e, n.now ?? e.writtenAt)
			} : {}
		},
		expected: e.oid,
		root: !1
	};
}
function Vt(e, t) {
	if (e === null) return { outcome: "absent" };
	if (e.record.token !== t.token) return {
		outcome: "moved-on",
		seen: e
	};
	if (e.record.state === "released") return {
		outcome: "free",
		seen: e
	};
	let { published: n, pushes: r, ...i } = e.record;
	return {
		outcome: "unlock",
		write: {
			record: {
				...i,
				...St(e, t.now),
				token: e.record.token + 1,
				state: "released",
				event: "unlocked",
				unlock: {
					by: t.by,
					reason: t.reason
				},
				previous: e.oid,
				depth: e.record.depth + 1,
				nonce: t.nonce
			},
			expected: e.oid,
			root: !1
		}
	};
}
({ ...st });
// node_modules/.fencepost-build/src/protocol/fence.js
var Ht = /* @__PURE__ */ M(/* @__PURE__ */ j(), /* @__PURE__ */ E(/^[0-9a-f]{40,64}$/)), Ut = /* @__PURE__ */ O({
	...st,
	kind: /* @__PURE__ */ Re("fence"),
	event: /* @__PURE__ */ Be(["sealed", "accepted"]),
	token: /* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ D(), /* @__PURE__ */ T(1)),
	holder: We,
	fingerprint: /* @__PURE__ */ A(Ht),
	accepted: /* @__PURE__ */ A(/* @__PURE__ */ O({
		token: /* @__PURE__ */ M(/* @__PURE__ */ k(), /* @__PURE__ */ D(), /* @__PURE__ */ T(1)),
		fingerprint: /* @__PURE__ */ A(Ht),
		published: /* @__PURE__ */ Ve(/* @__PURE__ */ j(), /* @__PURE__ */ j())
	}))
});
function Wt({ of: e, name: t }) {
	return e === "lease" ? t : `${e}s//${t}`;
}
function Gt(e) {
	return he("fence", Wt(e));
}
function Kt(e) {
	return e && {
		record: ut("fence", Ut, e),
		oid: e.oid
	};
}
function qt(e) {
	let { name: t, token: n, event: r, holder: i, accepted: a } = e;
	return ct(Je(`fence ${t} #${n} ${r === "sealed" ? "sealed for" : `accepted ${Jt(a?.published ?? {})}from`} ${P(i)}`), He(Ut, e));
}
function Jt(e) {
	return Object.entries(e).map(([e, t]) => `${e.replace(/^refs\/(heads|tags)\//, "")} ${t.slice(0, 10)} `).slice(0, 4).join("");
}
function Yt(e, t, { token: n, claim: r, fingerprint: i }, { nonce: a, keepChain: o = !1 }) {
	if (e !== null && e.record.token > n) return {
		outcome: "superseded",
		seen: e
	};
	let s = e?.record.accepted;
	if (e && s && t.of === "draft" && i && s.fingerprint === i) return {
		outcome: "published",
		seen: e,
		published: s.published
	};
	if (e !== null && e.record.token === n) return Ke(e.record.holder, r) ? {
		outcome: "sealed",
		seen: e
	} : {
		outcome: "superseded",
		seen: e
	};
	let c = e === null || e.record.depth >= 500 && !o;
	return {
		outcome: "seal",
		write: {
			record: {
				fencepost: 1,
				kind: "fence",
				name: Wt(t),
				event: "sealed",
				token: n,
				holder: r,
				...i ? { fingerprint: i } : {},
				...s ? { accepted: s } : {},
				previous: e?.oid ?? null,
				depth: c ? 1 : e.record.depth + 1,
				nonce: a
			},
			expected: e?.oid ?? null,
			root: c
		}
	};
}
// node_modules/.fencepost-build/src/store/store.js
var H = class extends Error {
	name = "StoreUnavailable";
}, U = class extends Error {
	name = "StoreRefused";
}, Xt = class extends Error {
	name = "StoreMisconfigured";
}, Zt = 50;
async function Qt({ store: e, clock: t, chance: n }, r, i, a = {}) {
	let o = Gt(r), s = !1;
	for (let c = 0; c < Zt; c++) {
		let { records: l } = await e.read([o], a), u = Yt(Kt(l[0] ?? null), r, i, {
			nonce: n.nonce(),
			keepChain: s
		});
		if (u.outcome === "superseded") return {
			...u,
			why: en(r, i.token, u.seen)
		};
		if (u.outcome === "sealed") return {
			...u,
			fresh: !1
		};
		if (u.outcome !== "seal") return u;
		let d = await $t(e, r, u.write, a).catch((e) => {
			if (!(e instanceof U) || !u.write.root || u.write.expected === null) throw e;
			return s = !0, null;
		});
		if (d) return {
			outcome: "sealed",
			fresh: !0,
			seen: d
		};
		await t.sleep(Math.min(20 * 2 ** c, 1e3) * (.5 + n.random()), a.signal);
	}
	throw new H(`The fence of ${x(r.name)} changed ${Zt} times while it was being sealed. Try again later.`);
}
async function $t(e, t, { record: n, expected: r, root: i }, a) {
	let o = {
		message: qt(n),
		root: i
	}, s = await e.swap([{
		name: Gt(t),
		expected: r,
		next: o
	}], a), c = s.outcome === "applied" ? s.written[0] : null;
	return c ? {
		record: n,
		oid: c.oid
	} : null;
}
function en({ of: e, name: t }, n, { record: r }) {
	let i = P(r.holder);
	return `token ${n} of the ${e} ${x(t)} is too late: the fence of the destination has token ${r.token}, by ${i}`;
}
// node_modules/.fencepost-build/src/gate/accept.js
async function tn(e, t, n, r, i = {}) {
	let a = await Qt(e, {
		of: "resource",
		name: t
	}, n, i), { token: o, holder: s } = a.seen.record;
	if (a.outcome === "sealed" && a.fresh) return {
		outcome: "accepted",
		value: await r(n.token)
	};
	let c = `token ${n.token} was used for ${x(t)} already, and is good for one write`;
	return {
		outcome: "superseded",
		token: o,
		holder: s,
		why: a.outcome === "superseded" ? a.why : c
	};
}
// node_modules/.fencepost-build/src/github/queries.js
var nn = "oid message committedDate parents(first: 2) { nodes { oid } }", rn = "oid message committedDate parents(first: 2) { nodes { oid message committedDate parents(first: 2) { nodes { oid } } } }";
function an(e, t, n = !1) {
	let r = Object.fromEntries(t.map((t, n) => [`ref${n}`, b(e.prefix, t)]));
	return {
		query: `query FencepostRead($owner: String!, $name: String!${t.map((e, t) => `, $ref${t}: String!`).join("")}) { repository(owner: $owner, name: $name) { ${["id", ...t.map((e, t) => `r${t}: ref(qualifiedName: $ref${t}) { target { ... on Commit { ${n ? rn : nn} } } }`)].join(" ")} } }`,
		variables: {
			owner: e.owner,
			name: e.name,
			...r
		}
	};
}
function on(e, t) {
	let n = vn(e), r = t.map((e, t) => {
		let r = n[`r${t}`];
		if (r === void 0) throw TypeError("a ref that was asked for is not in the answer");
		return r === null ? null : bn(e, r.target);
	});
	return {
		repositoryId: String(n.id),
		tips: r
	};
}
function sn(e, t, n) {
	return {
		query: `query FencepostList($owner: String!, $name: String!, $folder: String!, $after: String) { repository(owner: $owner, name: $name) { refs(refPrefix: $folder, first: 100, after: $after, orderBy: { field: ALPHABETICAL, direction: ASC }) { nodes { prefix name target { ... on Commit { ${nn} } } } pageInfo { hasNextPage endCursor } } } }`,
		variables: {
			owner: e.owner,
			name: e.name,
			folder: `refs/heads/${e.prefix}/${t}`,
			after: n
		}
	};
}
function cn(e, t) {
	let { refs: n } = vn(t);
	return {
		records: n.nodes.flatMap((t) => {
			let n = ge(e.prefix, t.prefix + t.name);
			return n === null ? [] : [W(n, t.target)];
		}),
		next: yn(n)
	};
}
function ln(e, t, n, r) {
	return {
		query: `query FencepostHistory($owner: String!, $name: String!, $ref: String!, $first: Int!, $after: String) { repository(owner: $owner, name: $name) { ref(qualifiedName: $ref) { target { ... on Commit { history(first: $first, after: $after) { nodes { ${nn} } pageInfo { hasNextPage endCursor } } } } } } }`,
		variables: {
			owner: e.owner,
			name: e.name,
			ref: b(e.prefix, t),
			first: n,
			after: r
		}
	};
}
function un(e, t) {
	let { ref: n } = vn(t);
	if (n === null) return {
		records: [],
		next: null
	};
	let { history: r } = n.target;
	return {
		records: r.nodes.map((t) => W(e, t)),
		next: yn(r)
	};
}
function dn(e, t, n, r) {
	return {
		query: `mutation FencepostCommit($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { ${nn} } } }`,
		variables: { input: {
			branch: {
				repositoryNameWithOwner: `${e.owner}/${e.name}`,
				branchName: b(e.prefix, t).slice(11)
			},
			expectedHeadOid: n,
			message: r
		} }
	};
}
function fn(e, t) {
	let n = t.createCommitOnBranch;
	return W(e, n.commit);
}
var pn = "0".repeat(40);
function mn(e, t, n) {
	return {
		query: "mutation FencepostUpdateRefs($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }",
		variables: { input: {
			repositoryId: e,
			clientMutationId: n,
			refUpdates: t.map(({ name: e, before: t, after: n, force: r }) => ({
				name: e,
				beforeOid: t ?? pn,
				afterOid: n ?? pn,
				force: r
			}))
		} }
	};
}
function hn(e, t) {
	return e?.updateRefs?.clientMutationId === t;
}
function gn(e, t) {
	let n = t;
	return W(e, {
		oid: n.sha,
		message: n.message,
		committedDate: n.committer.date,
		parents: { nodes: n.parents.map(({ sha: e }) => ({ oid: e })) }
	});
}
function _n(e) {
	return e?.object?.sha;
}
function vn(e) {
	let { repository: t } = e;
	if (t == null) throw TypeError("no repository in the answer");
	return t;
}
function yn({ pageInfo: e }) {
	return e.hasNextPage ? e.endCursor : null;
}
function bn(e, t) {
	let n = t?.parents.nodes[0];
	return {
		...W(e, t),
		before: n?.message === void 0 ? null : W(e, n)
	};
}
function W(e, t) {
	let n = Date.parse(t?.committedDate ?? "");
	if (typeof t?.oid != "string" || typeof t.message != "string" || Number.isNaN(n)) throw TypeError("a commit without id, message or date in the answer");
	let r = t.parents.nodes.map(({ oid: e }) => e);
	return {
		name: e,
		oid: t.oid,
		writtenAt: n,
		parents: r,
		message: t.message
	};
}
// node_modules/.fencepost-build/src/github/publish.js
function xn(e, t, n) {
	let { query: r, variables: i } = an(e, t, !0);
	return {
		query: r.replace("$name: String!", "$name: String!, $branch: String!").replace("{ id", "{ branch: ref(qualifiedName: $branch) { target { ... on Commit { oid tree { oid } } } } id"),
		variables: {
			...i,
			branch: n
		}
	};
}
function Sn(e, t) {
	let { repository: n } = e, r = n?.branch;
	if (r === void 0) throw TypeError("a branch that was asked for is not in the answer");
	let { oid: i, tree: a } = r?.target ?? {};
	if (r !== null && (typeof i != "string" || typeof a?.oid != "string")) throw TypeError("a branch without commit or tree in the answer");
	return {
		...on(e, t),
		branch: r === null ? null : {
			oid: i,
			tree: a?.oid
		}
	};
}
function Cn(e) {
	let { sha: t } = e;
	if (typeof t != "string" || !/^[0-9a-f]{40,64}$/.test(t)) throw TypeError("an object without id in the answer");
	return t;
}
// node_modules/.fencepost-build/src/github/advice.js
var wn = "    permissions:\n      contents: write";
function Tn(e, t, n, r) {
	let i = n.words === "" ? "" : ` GitHub says: ${n.words.replace(/\.$/, "")}.`;
	switch (n.lack) {
		case "permission": return r && e === "write to" ? `Could not write to ${t}: this run belongs to a pull request from a fork, and GitHub gives such a run a token that can only read, whatever its workflow asks for.${i} Run Fencepost on push, schedule or workflow_dispatch instead, or skip its job for forks with
    if: github.event.pull_request.head.repo.full_name == github.repository` : `Could not ${e} ${t}: the token lacks the permission.${i} Give the job this, beside the permissions that it names already, since naming one sets all others to none:
${wn}
A personal or app token takes the repository permission "Contents: Read and write". If the token has it, the repository may be archived, or its owner may keep the token out.`;
		case "credentials": return `Could not ${e} ${t}: GitHub does not accept the token.${i} It is mistyped, was revoked or has expired; a job's GITHUB_TOKEN ends with its job. Give Fencepost a token that is valid now.`;
		case "invisible": return `Could not ${e} ${t}: there is no such repository, or this token cannot see it.${i} Check owner and name. A job's GITHUB_TOKEN reaches the repository of its workflow only; any other takes a personal or app token with "Contents: Read and write" there.`;
		case "empty": return `Could not ${e} ${t}: the repository has no commit yet.${i} Push a first commit to it, then run this again.`;
		case "endpoint": return `Could not ${e} ${t}: there is no GraphQL API at the address that was given.${i} Check GITHUB_GRAPHQL_URL: https://api.github.com/graphql, or https://HOST/api/graphql on GitHub Enterprise Server.`;
	}
}
// node_modules/.fencepost-build/src/github/requests.js
async function En(e, t, n, r) {
	let i = await On(e, t, n, r);
	return typeof i == "string" ? An(i) : jn(i) ?? kn(i, i.data);
}
async function Dn(e, t, n, r) {
	let i = await On(e, "POST /graphql", {
		query: t,
		variables: n
	}, r);
	if (typeof i == "string") return An(i);
	let a = jn(i);
	return a?.kind === "no" && a.code === "404" ? {
		kind: "refused",
		lack: "endpoint",
		words: a.words
	} : a ?? Pn(i);
}
async function On(e, t, n, r) {
	r?.throwIfAborted();
	try {
		return await e.request(t, {
			...n,
			...r ? { request: { signal: r } } : {}
		});
	} catch (e) {
		r?.throwIfAborted();
		let { response: t } = e;
		return t ?? (e instanceof Error ? e.message : String(e));
	}
}
function kn({ headers: e }, t) {
	let n = e.etag;
	return {
		kind: "ok",
		data: t,
		date: Fn(e),
		etag: n === void 0 ? null : String(n)
	};
}
function An(e) {
	return {
		kind: "unknown",
		answered: !1,
		words: e
	};
}
function jn(e) {
	let { status: t } = e, n = In(e);
	return t >= 200 && t < 300 ? null : t === 304 ? { kind: "unchanged" } : t === 401 ? {
		kind: "refused",
		lack: "credentials",
		words: n
	} : t === 403 || t === 429 ? Mn(e, n) ?? {
		kind: "refused",
		lack: "permission",
		words: n
	} : t === 409 && /\bempty\b/i.test(n) ? {
		kind: "refused",
		lack: "empty",
		words: n
	} : t === 408 || t === 409 || t >= 500 ? {
		kind: "unknown",
		answered: !1,
		words: `HTTP ${t} ${n}`.trim()
	} : {
		kind: "no",
		code: String(t),
		words: n
	};
}
function Mn({ status: e, headers: t }, n) {
	let r = Fn(t), i = t["retry-after"];
	if (i !== void 0) {
		let e = String(i).trim() === "" ? NaN : Number(i);
		return {
			kind: "limited",
			limit: "secondary",
			wait: Number.isFinite(e) ? e * 1e3 : null,
			date: r
		};
	}
	return String(t["x-ratelimit-remaining"] ?? "") === "0" ? {
		kind: "limited",
		limit: "primary",
		wait: Nn(t, r),
		date: r
	} : e === 429 || /\brate limit\b/i.test(n) ? {
		kind: "limited",
		limit: "secondary",
		wait: null,
		date: r
	} : null;
}
function Nn(e, t) {
	let n = Number(e["x-ratelimit-reset"] ?? NaN) * 1e3;
	return Number.isFinite(n) && t !== null ? Math.max(n - t, 0) + 1e3 : null;
}
function Pn(e) {
	let t = e.data;
	if (typeof t != "object" || !t || !("data" in t || "errors" in t)) return {
		kind: "unknown",
		answered: !1,
		words: "an answer that is not GraphQL"
	};
	let n = t.errors ?? [];
	if (n.length === 0) return kn(e, t.data);
	let r = n.map(({ message: e }) => e ?? "").join("; "), i = (...e) => n.find(({ type: t }) => e.includes(t ?? "")), a = Fn(e.headers);
	if (i("RATE_LIMITED", "RATE_LIMIT")) return {
		kind: "limited",
		limit: "primary",
		wait: Nn(e.headers, a),
		date: a
	};
	let o = Mn({
		...e,
		headers: {
			...e.headers,
			"x-ratelimit-remaining": ""
		}
	}, r);
	if (o) return o;
	if (i("FORBIDDEN", "INSUFFICIENT_SCOPES")) return {
		kind: "refused",
		lack: "permission",
		words: r
	};
	if (i("NOT_FOUND")?.path?.[0] === "repository") return {
		kind: "refused",
		lack: "invisible",
		words: r
	};
	let s = i("STALE_DATA") ?? i("NOT_FOUND") ?? i("UNPROCESSABLE");
	return s ? {
		kind: "no",
		code: s.type ?? "",
		words: r
	} : {
		kind: "unknown",
		answered: !0,
		words: r
	};
}
function Fn(e) {
	let t = Date.parse(String(e.date ?? ""));
	return Number.isNaN(t) ? null : t;
}
function In({ data: e }) {
	let t = typeof e == "string" ? e : e?.message;
	return typeof t == "string" ? t.replace(/\s+/g, " ").trim().slice(0, 300) : "";
}
var Ln = 6e4;
function Rn(e, t, { signal: n }) {
	let { octokit: r, clock: i, chance: a, repository: o } = e, s = e.waitLimit, c = 0;
	async function l(e) {
		for (;;) {
			let t = await e();
			if (t.kind === "refused") throw u(t);
			if (t.kind !== "limited") return t;
			await d(t);
		}
	}
	function u(n) {
		return new (n.lack === "empty" || n.lack === "endpoint" ? Xt : U)(Tn(t, o, n, e.forkPullRequest));
	}
	async function d(r) {
		let a = Math.max(r.wait ?? Ln * 2 ** c, 1e3), l = (r.date ?? i.read().wall) + a, u = r.limit === "primary" ? "GitHub's rate limit for this token is used up" : "GitHub's secondary rate limit holds this token back", d = `${new Date(l).toISOString().slice(11, 19)} UTC (in ${I(Math.ceil(a / 1e3) * 1e3)})`;
		if (a > s) throw new H(`Could not ${t} ${o}: ${u}. It will be possible again at ${d}; run this again then. Nothing was changed by the request that was held back.`);
		c === 0 && e.warn(`${u}. Waiting until ${d} to ${t} ${o}.`), c++, s -= a, await i.sleep(a, n);
	}
	let f = ({ query: e, variables: t }) => l(() => Dn(r, e, t, n)), p = (e) => i.sleep(200 * 2 ** (e - 1) * (.5 + a.random()), n);
	return {
		rest: (t, i) => {
			let { owner: a, name: o } = e.place;
			return l(() => En(r, t, {
				owner: a,
				repo: o,
				...i
			}, n));
		},
		graphql: f,
		pause: p,
		async read(e, n) {
			for (let r = 1;; r++) {
				let i = await f(e), a = "words" in i ? i.words : "";
				if (i.kind === "ok") try {
					return n(i.data, i.date);
				} catch (e) {
					if (!(e instanceof TypeError)) throw e;
					a = e.message;
				}
				if (r === 3) throw new H(`Could not ${t} ${o}: GitHub did not answer as it should, 3 times, last with: ${a}. Try again later; githubstatus.com tells of GitHub's own faults.`);
				await p(r);
			}
		}
	};
}
// node_modules/.fencepost-build/src/store/github-commits.js
var zn = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
async function Bn(e, t, n) {
	let { next: r, name: i } = n;
	if (r === null) return {
		kind: "made",
		commit: null
	};
	let a = n.expected === null || r.root ? [] : [n.expected], o = (t) => Hn(e, "POST /repos/{owner}/{repo}/git/commits", {
		message: r.message,
		tree: t,
		parents: a
	}, (e) => gn(i, e)), s = await o(t.tree);
	if ("value" in s) return {
		kind: "made",
		commit: s.value
	};
	if (s.code !== "422" || t.tree !== "4b825dc642cb6eb9a060e54bf8d69288fbee4904") return {
		kind: "failed",
		...s
	};
	let c = await Vn(e);
	if (!("value" in c)) return {
		kind: "failed",
		...c
	};
	let l = await o(c.value);
	return "value" in l ? (t.tree = c.value, {
		kind: "made",
		commit: l.value
	}) : {
		kind: "failed",
		...l
	};
}
function Vn(e) {
	return Hn(e, "POST /repos/{owner}/{repo}/git/trees", { tree: [{
		path: "fencepost.txt",
		mode: "100644",
		type: "blob",
		content: "This branch holds records of Fencepost, in its commit messages.\n"
	}] }, (e) => {
		let { sha: t } = e;
		if (typeof t != "string") throw TypeError("a tree without id in the answer");
		return t;
	});
}
async function Hn(e, t, n, r) {
	for (let i = 1;; i++) {
		let a = await e.rest(t, n), o = "words" in a ? a.words : "";
		if (a.kind === "no") return {
			code: a.code,
			words: o
		};
		if (a.kind === "ok") try {
			return { value: r(a.data) };
		} catch (e) {
			if (!(e instanceof TypeError)) throw e;
			o = e.message;
		}
		if (i === 3) return {
			code: "unknown",
			words: o
		};
		await e.pause(i);
	}
}
// node_modules/.fencepost-build/src/protocol/paths.js
function Un(e) {
	let t = Wn(e);
	if (t) throw new y(`The path ${x(e)} ${t}. A good one: posts/hello.md`);
	return e;
}
function Wn(e) {
	if (e === "") return "is empty";
	if (!e.isWellFormed()) return "is not valid Unicode";
	if (e.length > 4e3) return "is longer than 4000 characters";
	if (e.startsWith("/")) return "begins with a slash";
	if (/[\u0000-\u001f\u007f\\]/.test(e)) return "has a control character or a backslash";
	for (let t of e.split("/")) {
		if (t === "" || t === "." || t === "..") return "has an empty, `.` or `..` part between its slashes";
		if (/^(\.git|git~1)[ .]*(:.*)?$/i.test(t.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ""))) return "has a part that stands for git's own folder";
	}
	return null;
}
// node_modules/.fencepost-build/src/gate/commit-objects.js
var Gn = [
	"100644",
	"100755",
	"120000"
];
function Kn(e) {
	let t = Object.entries(e);
	if (t.length === 0) throw TypeError("There are no files to publish. Name one at least.");
	for (let [e, n] of t) {
		Un(e);
		let t = typeof n == "object" && n && "mode" in n ? n.mode : void 0;
		if (t !== void 0 && !Gn.includes(t)) throw TypeError(`The mode ${JSON.stringify(t)} of ${e} is none of ${Gn.join(", ")}.`);
	}
}
async function qn(e, { change: t, message: n, author: r }, i) {
	let a = "tree" in t ? t.tree : await Jn(e, t.files, i);
	return i !== null && a === i.tree ? "unchanged" : Zn(await Hn(e, "POST /repos/{owner}/{repo}/git/commits", {
		message: n,
		tree: a,
		parents: i === null ? [] : [i.oid],
		...r ? { author: r } : {}
	}, Cn), "the commit");
}
async function Jn(e, t, n) {
	let r = [];
	for (let [i, a] of Object.entries(t)) {
		let { content: t, mode: o = "100644" } = typeof a == "object" && a && "content" in a ? a : { content: a }, s = {
			path: i,
			mode: o,
			type: "blob"
		};
		if (t === null) n !== null && r.push({
			...s,
			sha: null
		});
		else {
			let n = Yn(t);
			r.push(n === null ? {
				...s,
				sha: await Xn(e, t)
			} : {
				...s,
				content: n
			});
		}
	}
	return Zn(await Hn(e, "POST /repos/{owner}/{repo}/git/trees", {
		tree: r,
		...n === null ? {} : { base_tree: n.tree }
	}, Cn), "the tree");
}
function Yn(e) {
	if (typeof e == "string") {
		if (!e.isWellFormed()) throw TypeError("A file's text is not valid Unicode. Give its bytes instead.");
		return e;
	}
	try {
		let t = new TextDecoder("utf-8", {
			fatal: !0,
			ignoreBOM: !0
		}).decode(e);
		return t.includes("\0") ? null : t;
	} catch {
		return null;
	}
}
async function Xn(e, t) {
	let n = "";
	for (let e = 0; e < t.length; e += 8192) n += String.fromCharCode(...t.subarray(e, e + 8192));
	return Zn(await Hn(e, "POST /repos/{owner}/{repo}/git/blobs", {
		content: btoa(n),
		encoding: "base64"
	}, Cn), "a file");
}
function Zn(e, t) {
	if ("value" in e) return e.value;
	throw e.code === "unknown" ? Error(`GitHub did not make ${t} (${e.words}). Try again later.`) : new U(`GitHub would not make ${t}: ${e.words || e.code}.`);
}
// node_modules/.fencepost-build/src/gate/commit.js
async function Qn({ setup: e, memory: t }, n) {
	"files" in n.change && Kn(n.change.files);
	let r = {
		commit: null,
		open: !1
	};
	try {
		return await $n(e, t, n, r);
	} catch (e) {
		let t = e instanceof Error ? e.message : String(e), { commit: n, open: i } = r;
		return i ? {
			outcome: "unavailable",
			why: t,
			commit: n
		} : e instanceof L || e instanceof jt ? {
			outcome: "broken",
			why: t,
			commit: n
		} : e instanceof U || e instanceof Xt ? {
			outcome: "refused",
			why: t,
			commit: n
		} : {
			outcome: "unavailable",
			why: t,
			commit: n
		};
	}
}
async function $n(e, t, n, r) {
	let i = Rn(e, "write to", { signal: n.signal }), { fences: a } = n, o, s, c = {
		words: "",
		certainty: "none"
	}, l = 0;
	for (let u = 1; u <= n.attempts + 1; u++) {
		u > 1 && await i.pause(Math.min(u - 1, 5));
		let d = await er(e, i, n), f = d.branch?.oid ?? null;
		u === 1 && (s = f);
		let p = o !== void 0 && await rr(e, i, n, o, d);
		if (o && p === !0) return {
			outcome: "pushed",
			commit: o.commit,
			written: o.records,
			rebuilt: o.base !== s
		};
		if (p === "unknown") throw Error("Others have written since, and nothing there shows whether this was published.");
		r.open = !1;
		for (let [e, t] of a.entries()) {
			let n = d.records[e] ?? null;
			if (t.check(n), !t.isMine(n)) return {
				outcome: "superseded",
				why: t.lost(n, d.now),
				fence: t,
				commit: r.commit
			};
		}
		let { commit: m } = r, h = o === void 0 ? n.base : o.base, g = h !== void 0 && f !== h, _ = o && !g && d.records.every((e, t) => o?.records[t]?.parents[0] === e?.oid);
		if (l = _ && c.certainty !== "none" ? l + 1 : 0, l >= 3) return {
			outcome: "refused",
			why: ir(e, n, c.words),
			commit: m
		};
		if (g && (n.onMoved === "fail" || n.base !== void 0)) return {
			outcome: "moved",
			why: `${n.branch} moved to ${f?.slice(0, 10) ?? "nothing"}`,
			commit: m
		};
		if (u > n.attempts) return {
			outcome: g ? "moved" : "unavailable",
			why: g ? `${n.branch} moved ${n.attempts} times while it was being published` : `GitHub did not say whether it was published (${c.words})`,
			commit: m
		};
		if (!_) {
			let e = o && !g ? o.commit : await qn(i, n, d.branch);
			if (e === "unchanged") return {
				outcome: "unchanged",
				commit: f
			};
			r.commit = e, o = {
				base: f,
				commit: e,
				records: await tr(i, t, n, d, e)
			};
		}
		if (c = await nr(e, i, n, d, o), r.open = c.certainty !== "definite", c.certainty === "done") return {
			outcome: "pushed",
			commit: o.commit,
			written: o.records,
			rebuilt: o.base !== s
		};
	}
	throw Error("a publish that did not end");
}
async function er(e, t, { fences: n, branch: r }) {
	let i = n.map(({ record: e }) => e);
	return t.read(xn(e.place, i, r), (e, t) => {
		if (t === null) throw TypeError("no Date header in the answer");
		let { repositoryId: n, tips: r, branch: a } = Sn(e, i);
		return {
			now: t,
			repositoryId: n,
			records: r,
			before: r.map((e) => e?.before ?? null),
			branch: a
		};
	});
}
async function tr(e, t, { fences: n, branch: r }, { records: i, now: a }, o) {
	let s = [];
	for (let [c, l] of n.entries()) {
		let n = i[c], u = { message: l.succeed(n, { [r]: o }, a) }, d = await Bn(e, t, {
			name: l.record,
			expected: n.oid,
			next: u
		});
		if (d.kind === "failed" || d.commit === null) throw Error(`GitHub did not make the record's commit (${d.kind === "failed" ? d.words : ""}).`);
		s.push(d.commit);
	}
	return s;
}
async function nr(e, t, n, r, i) {
	let a = [{
		name: n.branch,
		before: i.base,
		after: i.commit,
		force: !1
	}, ...i.records.map((t) => ({
		name: b(e.place.prefix, t.name),
		before: t.parents[0] ?? null,
		after: t.oid,
		force: !1
	}))], o = e.chance.nonce(), s = await t.graphql(mn(r.repositoryId, a, o));
	return s.kind === "ok" && hn(s.data, o) ? {
		certainty: "done",
		words: ""
	} : s.kind === "no" ? {
		certainty: "definite",
		words: s.words
	} : s.kind === "unknown" ? {
		certainty: s.answered ? "answered" : "none",
		words: s.words
	} : {
		certainty: "none",
		words: "an answer without what was asked for"
	};
}
async function rr(e, t, { fences: n }, r, i) {
	if (i.branch?.oid === r.commit && r.base !== r.commit) return !0;
	let a = r.records[0], o = i.records[0];
	if (!o || o.oid === a.parents[0]) return !1;
	if (o.oid === a.oid || i.before[0]?.oid === a.oid) return !0;
	let s = ln(e.place, n[0].record, 100, null), { records: c } = await t.read(s, (e) => un(n[0].record, e)), l = c.map(({ oid: e }) => e);
	return l.includes(a.oid) ? !0 : !l.includes(a.parents[0]) && "unknown";
}
function ir({ place: e }, { branch: t }, n) {
	return `GitHub refused 3 times to move ${t} together with its record, though both were where they were expected: ${n}. A rule of the repository may protect the branch: let the owner of this token bypass it; or it may cover ${e.prefix}/**: exclude that. Files under .github/workflows need a token with the permission "Workflows".`;
}
// node_modules/.fencepost-build/src/lease/describe.js
function ar(e, t) {
	let { record: n } = e;
	if (n.state === "released") return `free, token ${n.token}, last held by ${P(n.holder)}`;
	let r = Date.parse(n.since), i = V(e), a = i > t ? `expires in ${I(i - t)}` : `expired ${I(t - i)} ago`;
	return [
		P(n.holder),
		`token ${n.token}`,
		`since ${or(r)} (${I(t - r)} ago)`,
		`${a} (${or(i)})`,
		...n.holder.url ? [n.holder.url] : []
	].join(", ");
}
function or(e) {
	return Number.isFinite(e) ? `${new Date(e).toISOString().slice(0, 19).replace("T", " ")} UTC` : "unknown";
}
// node_modules/.fencepost-build/src/gate/fence.js
function sr(e, t, n, r) {
	let { token: i } = t;
	return {
		record: B(e),
		of: "lease",
		name: e,
		token: i,
		check: (t) => Rt(e, z(t), i),
		isMine: (e) => zt(z(e), t),
		succeed: (e, i, a) => {
			let o = {
				event: "pushed",
				nonce: n.nonce(),
				published: i,
				now: a,
				...r ? { slots: r } : {}
			}, s = Bt(z(e), t, o);
			if (s === null) throw Error("a lease that was mine has no successor");
			return Mt(s.record);
		},
		lost: (t, n) => {
			let r = z(t), a = r ? `The lease is now: ${ar(r, n)}.` : "Its record is gone.";
			return `token ${i} of ${x(e)} no longer holds the lease. ${a}`;
		}
	};
}
function cr(e) {
	let t = e.find((e) => e.name.startsWith("lease/")), n = t && z(t);
	if (n) return {
		lease: n.record.name,
		token: n.record.token,
		claim: n.record.holder,
		...n
	};
}
// node_modules/universal-user-agent/index.js
function lr() {
	return typeof navigator == "object" && "userAgent" in navigator ? navigator.userAgent : typeof process == "object" && process.version !== void 0 ? `Node.js/${process.version.substr(1)} (${process.platform}; ${process.arch})` : "<environment undetectable>";
}
// node_modules/before-after-hook/lib/register.js
function ur(e, t, n, r) {
	if (typeof n != "function") throw Error("method for before hook must be a function");
	return r ||= {}, Array.isArray(t) ? t.reverse().reduce((t, n) => ur.bind(null, e, n, t, r), n)() : Promise.resolve().then(() => e.registry[t] ? e.registry[t].reduce((e, t) => t.hook.bind(null, e, r), n)() : n(r));
}
// node_modules/before-after-hook/lib/add.js
function dr(e, t, n, r) {
	let i = r;
	e.registry[n] || (e.registry[n] = []), t === "before" && (r = (e, t) => Promise.resolve().then(i.bind(null, t)).then(e.bind(null, t))), t === "after" && (r = (e, t) => {
		let n;
		return Promise.resolve().then(e.bind(null, t)).then((e) => (n = e, i(n, t))).then(() => n);
	}), t === "error" && (r = (e, t) => Promise.resolve().then(e.bind(null, t)).catch((e) => i(e, t))), e.registry[n].push({
		hook: r,
		orig: i
	});
}
// node_modules/before-after-hook/lib/remove.js
function fr(e, t, n) {
	if (!e.registry[t]) return;
	let r = e.registry[t].map((e) => e.orig).indexOf(n);
	r !== -1 && e.registry[t].splice(r, 1);
}
// node_modules/before-after-hook/index.js
var pr = Function.bind, mr = pr.bind(pr);
function hr(e, t, n) {
	let r = mr(fr, null).apply(null, n ? [t, n] : [t]);
	e.api = { remove: r }, e.remove = r, [
		"before",
		"error",
		"after",
		"wrap"
	].forEach((r) => {
		let i = n ? [
			t,
			r,
			n
		] : [t, r];
		e[r] = e.api[r] = mr(dr, null).apply(null, i);
	});
}
function gr() {
	let e = Symbol("Singular"), t = { registry: {} }, n = ur.bind(null, t, e);
	return hr(n, t, e), n;
}
function _r() {
	let e = { registry: {} }, t = ur.bind(null, e);
	return hr(t, e), t;
}
var vr = {
	Singular: gr,
	Collection: _r
}, yr = {
	method: "GET",
	baseUrl: "https://api.github.com",
	headers: {
		accept: "application/vnd.github.v3+json",
		"user-agent": `octokit-endpoint.js/0.0.0-development ${lr()}`
	},
	mediaType: { format: "" }
};
function br(e) {
	return e ? Object.keys(e).reduce((t, n) => (t[n.toLowerCase()] = e[n], t), {}) : {};
}
function xr(e) {
	if (typeof e != "object" || !e || Object.prototype.toString.call(e) !== "[object Object]") return !1;
	let t = Object.getPrototypeOf(e);
	if (t === null) return !0;
	let n = Object.prototype.hasOwnProperty.call(t, "constructor") && t.constructor;
	return typeof n == "function" && n instanceof n && Function.prototype.call(n) === Function.prototype.call(e);
}
function Sr(e, t) {
	let n = Object.assign({}, e);
	return Object.keys(t).forEach((r) => {
		xr(t[r]) && r in e ? n[r] = Sr(e[r], t[r]) : Object.assign(n, { [r]: t[r] });
	}), n;
}
function Cr(e) {
	for (let t in e) e[t] === void 0 && delete e[t];
	return e;
}
function wr(e, t, n) {
	if (typeof t == "string") {
		let [e, r] = t.split(" ");
		n = Object.assign(r ? {
			method: e,
			url: r
		} : { url: e }, n);
	} else n = Object.assign({}, t);
	n.headers = br(n.headers), Cr(n), Cr(n.headers);
	let r = Sr(e || {}, n);
	return n.url === "/graphql" && (e && e.mediaType.previews?.length && (r.mediaType.previews = e.mediaType.previews.filter((e) => !r.mediaType.previews.includes(e)).concat(r.mediaType.previews)), r.mediaType.previews = (r.mediaType.previews || []).map((e) => e.replace(/-preview/, ""))), r;
}
function Tr(e, t) {
	let n = /\?/.test(e) ? "&" : "?", r = Object.keys(t);
	return r.length === 0 ? e : e + n + r.map((e) => e === "q" ? "q=" + t.q.split("+").map(encodeURIComponent).join("+") : `${e}=${encodeURIComponent(t[e])}`).join("&");
}
var Er = /\{[^{}}]+\}/g;
function Dr(e) {
	return e.replace(/(?:^\W+)|(?:(?<!\W)\W+$)/g, "").split(/,/);
}
function Or(e) {
	let t = e.match(Er);
	return t ? t.map(Dr).reduce((e, t) => e.concat(t), []) : [];
}
function kr(e, t) {
	let n = { __proto__: null };
	for (let r of Object.keys(e)) t.indexOf(r) === -1 && (n[r] = e[r]);
	return n;
}
function Ar(e) {
	return e.split(/(%[0-9A-Fa-f]{2})/g).map(function(e) {
		return /%[0-9A-Fa-f]/.test(e) || (e = encodeURI(e).replace(/%5B/g, "[").replace(/%5D/g, "]")), e;
	}).join("");
}
function G(e) {
	return encodeURIComponent(e).replace(/[!'()*]/g, function(e) {
		return "%" + e.charCodeAt(0).toString(16).toUpperCase();
	});
}
function jr(e, t, n) {
	return t = e === "+" || e === "#" ? Ar(t) : G(t), n ? G(n) + "=" + t : t;
}
function K(e) {
	return e != null;
}
function Mr(e) {
	return e === ";" || e === "&" || e === "?";
}
function Nr(e, t, n, r) {
	var i = e[n], a = [];
	if (K(i) && i !== "") {
		if (typeof i == "string" || typeof i == "number" || typeof i == "bigint" || typeof i == "boolean") i = i.toString(), r && r !== "*" && (i = i.substring(0, parseInt(r, 10))), a.push(jr(t, i, Mr(t) ? n : ""));
		else if (r === "*") Array.isArray(i) ? i.filter(K).forEach(function(e) {
			a.push(jr(t, e, Mr(t) ? n : ""));
		}) : Object.keys(i).forEach(function(e) {
			K(i[e]) && a.push(jr(t, i[e], e));
		});
		else {
			let e = [];
			Array.isArray(i) ? i.filter(K).forEach(function(n) {
				e.push(jr(t, n));
			}) : Object.keys(i).forEach(function(n) {
				K(i[n]) && (e.push(G(n)), e.push(jr(t, i[n].toString())));
			}), Mr(t) ? a.push(G(n) + "=" + e.join(",")) : e.length !== 0 && a.push(e.join(","));
		}
	} else t === ";" ? K(i) && a.push(G(n)) : i === "" && (t === "&" || t === "?") ? a.push(G(n) + "=") : i === "" && a.push("");
	return a;
}
function Pr(e) {
	return { expand: Fr.bind(null, e) };
}
function Fr(e, t) {
	var n = [
		"+",
		"#",
		".",
		"/",
		";",
		"?",
		"&"
	];
	return e = e.replace(/\{([^\{\}]+)\}|([^\{\}]+)/g, function(e, r, i) {
		if (r) {
			let e = "", i = [];
			if (n.indexOf(r.charAt(0)) !== -1 && (e = r.charAt(0), r = r.substr(1)), r.split(/,/g).forEach(function(n) {
				var r = /([^:\*]*)(?::(\d+)|(\*))?/.exec(n);
				i.push(Nr(t, e, r[1], r[2] || r[3]));
			}), e && e !== "+") {
				var a = ",";
				return e === "?" ? a = "&" : e !== "#" && (a = e), (i.length === 0 ? "" : e) + i.join(a);
			}
			return i.join(",");
		}
		return Ar(i);
	}), e === "/" ? e : e.replace(/\/$/, "");
}
function Ir(e) {
	let t = e.method.toUpperCase(), n = (e.url || "/").replace(/:([a-z]\w+)/g, "{$1}"), r = Object.assign({}, e.headers), i, a = kr(e, [
		"method",
		"baseUrl",
		"url",
		"headers",
		"request",
		"mediaType"
	]), o = Or(n);
	n = Pr(n).expand(a), /^http/.test(n) || (n = e.baseUrl + n);
	let s = kr(a, Object.keys(e).filter((e) => o.includes(e)).concat("baseUrl"));
	return /application\/octet-stream/i.test(r.accept) || (e.mediaType.format && (r.accept = r.accept.split(/,/).map((t) => t.replace(/application\/vnd(\.\w+)(\.v3)?(\.\w+)?(\+json)?$/, `application/vnd$1$2.${e.mediaType.format}`)).join(",")), n.endsWith("/graphql") && e.mediaType.previews?.length && (r.accept = (r.accept.match(/(?<![\w-])[\w-]+(?=-preview)/g) || []).concat(e.mediaType.previews).map((t) => `application/vnd.github.${t}-preview${e.mediaType.format ? `.${e.mediaType.format}` : "+json"}`).join(","))), ["GET", "HEAD"].includes(t) ? n = Tr(n, s) : "data" in s ? i = s.data : Object.keys(s).length && (i = s), !r["content-type"] && i !== void 0 && (r["content-type"] = "application/json; charset=utf-8"), ["PATCH", "PUT"].includes(t) && i === void 0 && (i = ""), Object.assign({
		method: t,
		url: n,
		headers: r
	}, i === void 0 ? null : { body: i }, e.request ? { request: e.request } : null);
}
function Lr(e, t, n) {
	return Ir(wr(e, t, n));
}
function Rr(e, t) {
	let n = wr(e, t), r = Lr.bind(null, n);
	return Object.assign(r, {
		DEFAULTS: n,
		defaults: Rr.bind(null, n),
		merge: wr.bind(null, n),
		parse: Ir
	});
}
var zr = Rr(null, yr), Br = 32, Vr = 9, Hr = 59, Ur = 61, Wr = 34, Gr = 92, Kr = 44, qr = 1, q = 2, Jr = 4, J = 8, Yr = 16, Xr = 65280, Zr = 65281, Y = /* @__PURE__ */ new Uint8Array(256);
Y[Vr] |= q, Y[Br] |= q, Y[Hr] |= Jr, Y[Kr] |= J;
for (let e = 128; e <= 255; e++) Y[e] |= qr;
for (let e of "!#$%&'*+-.^_`|~") Y[e.charCodeAt(0)] |= Yr;
for (let e = 48; e <= 57; e++) Y[e] |= Yr;
for (let e = 65; e <= 90; e++) Y[e] |= 17;
for (let e = 97; e <= 122; e++) Y[e] |= Yr;
var Qr = /* @__PURE__ */ (() => {
	let e = function() {};
	return e.prototype = Object.create(null), e;
})();
function $r(e, t) {
	let n = Jr | (t?.comma === !0 ? J : 0), r = e.length, i = t?.start ?? 0;
	for (; (Y[e.charCodeAt(i)] & q) !== 0;) i++;
	let a = i, o = 0, s = -1, c = t?.parameters === !1 ? J : 0;
	for (; a < r;) {
		let t = e.charCodeAt(a), r = Y[t];
		if ((r & n) !== 0) {
			c |= r & J;
			break;
		}
		(r & q) === 0 ? s = -1 : s === -1 && (s = a), o |= t & Xr | r, a++;
	}
	let l = s === -1 ? a : s, u = e.slice(i, l), d = (o & Zr) === 0 ? u : u.toLowerCase();
	return a === r || c !== 0 ? {
		type: d,
		index: a,
		parameters: new Qr()
	} : ei(e, d, a, r, n);
}
function ei(e, t, n, r, i) {
	let a = new Qr();
	parameter: for (; n < r;) {
		for (n++; (Y[e.charCodeAt(n)] & q) !== 0;) n++;
		let t = n, o = 0, s = -1;
		for (; n < r;) {
			let c = e.charCodeAt(n), l = Y[c];
			if ((l & i) !== 0) {
				if ((l & J) !== 0) break parameter;
				continue parameter;
			}
			if (c === Ur) {
				let c = s === -1 ? n : s, l = e.slice(t, c), u = (o & Zr) === 0 ? l : l.toLowerCase();
				for (n++; (Y[e.charCodeAt(n)] & q) !== 0;) n++;
				if (n < r && e.charCodeAt(n) === Wr) {
					let t = ++n, o = !1;
					for (; n < r;) {
						let s = e.charCodeAt(n);
						if (s === Wr) {
							a[u] === void 0 && (a[u] = o ? ti(e, t, n) : e.slice(t, n)), n++;
							let s = 0;
							for (; n < r;) {
								let t = Y[e.charCodeAt(n)];
								if ((t & i) !== 0) {
									s = t & J;
									break;
								}
								n++;
							}
							if (s !== 0) break parameter;
							continue parameter;
						}
						s === Gr && n + 1 < r ? (o = !0, n += 2) : n++;
					}
					continue parameter;
				}
				let d = n, f = 0, p = -1;
				for (; n < r;) {
					let t = Y[e.charCodeAt(n)];
					if ((t & i) !== 0) {
						f = t & J;
						break;
					}
					(t & q) === 0 ? p = -1 : p === -1 && (p = n), n++;
				}
				if (a[u] === void 0) {
					let t = p === -1 ? n : p;
					a[u] = e.slice(d, t);
				}
				if (f !== 0) break parameter;
				continue parameter;
			}
			(l & q) === 0 ? s = -1 : s === -1 && (s = n), o |= c & Xr | l, n++;
		}
	}
	return {
		type: t,
		index: n,
		parameters: a
	};
}
function ti(e, t, n) {
	let r = "";
	for (let i = t; i < n; i++) e.charCodeAt(i) === Gr && (r += e.slice(t, i), t = ++i);
	return r + e.slice(t, n);
}
// node_modules/json-with-bigint/json-with-bigint.js
var ni = /^-?\d+$/, ri = /^-?\d+n+$/, X = JSON.stringify, ii = JSON.parse, ai = /^-?\d+n$/, oi = /([\[:])?"(-?\d+)n"($|\s*[,\}\]])/g, si = /([\[:])?("-?\d+n+)n("$|"\s*[,\}\]])/g, ci = (e) => e === void 0 || typeof e == "function" || typeof e == "symbol", li = (e) => typeof e == "object" && !!e && e.constructor && e.constructor.name === "RawJSON", ui = (e, t, n) => {
	let r = "";
	typeof n == "number" ? r = " ".repeat(Math.min(10, Math.max(0, Math.floor(n)))) : typeof n == "string" && (r = n.slice(0, 10));
	let i = typeof t == "function", a = Array.isArray(t) ? new Set(t.map(String)) : null, o = (e, n, r) => (typeof r == "object" && r && typeof r.toJSON == "function" && (r = r.toJSON(n)), typeof r == "string" && ri.test(r) ? r + "n" : typeof r == "bigint" ? "rawJSON" in JSON ? JSON.rawJSON(r.toString()) : r.toString() + "n" : (i && (r = t.call(e, n, r)), typeof r == "object" && r && (r instanceof Number || r instanceof String || r instanceof Boolean) && (r = r.valueOf()), r)), s = o({ "": e }, "", e);
	if (ci(s)) return;
	let c = typeof s != "object" || !s, l = li(s);
	if (c || l) return X(s);
	let u = [], d = 0, f = [{
		parent: { "": s },
		key: "",
		val: s,
		isArray: Array.isArray(s),
		keys: Array.isArray(s) ? null : Object.keys(s),
		index: 0,
		first: !0
	}], p = new WeakSet([s]);
	for (; f.length > 0;) {
		let e = f[f.length - 1];
		e.index === 0 && (u.push(e.isArray ? "[" : "{"), d++);
		let t = !1;
		if (e.isArray) {
			if (e.index < e.val.length) {
				e.first || u.push(","), r && u.push("\n" + r.repeat(d));
				let t = e.val[e.index], n = o(e.val, String(e.index), t);
				if (ci(n)) u.push("null"), e.first = !1, e.index++;
				else {
					let t = typeof n == "object" && !!n, r = li(n);
					if (t && !r) {
						if (p.has(n)) throw TypeError("Converting circular structure to JSON");
						p.add(n), f.push({
							parent: e.val,
							key: String(e.index),
							val: n,
							isArray: Array.isArray(n),
							keys: Array.isArray(n) ? null : Object.keys(n),
							index: 0,
							first: !0
						}), e.first = !1, e.index++;
					} else u.push(X(n)), e.first = !1, e.index++;
				}
			} else t = !0;
		} else {
			for (; e.index < e.keys.length;) {
				let t = e.keys[e.index++];
				if (a && !a.has(t)) continue;
				let n = e.val[t], i = o(e.val, t, n);
				if (ci(i)) continue;
				e.first || u.push(","), r ? u.push("\n" + r.repeat(d) + X(t) + ": ") : u.push(X(t) + ":");
				let s = typeof i == "object" && !!i, c = li(i);
				if (s && !c) {
					if (p.has(i)) throw TypeError("Converting circular structure to JSON");
					p.add(i), f.push({
						parent: e.val,
						key: t,
						val: i,
						isArray: Array.isArray(i),
						keys: Array.isArray(i) ? null : Object.keys(i),
						index: 0,
						first: !0
					}), e.first = !1;
					break;
				}
				u.push(X(i)), e.first = !1;
			}
			e.index >= e.keys.length && f[f.length - 1] === e && (t = !0);
		}
		t && (d--, !e.first && r && u.push("\n" + r.repeat(d)), u.push(e.isArray ? "]" : "}"), p.delete(e.val), f.pop());
	}
	return u.join("");
}, di = (e, t, n) => {
	try {
		return "rawJSON" in JSON ? X(e, (e, n) => typeof n == "bigint" ? JSON.rawJSON(n.toString()) : typeof t == "function" ? t(e, n) : (Array.isArray(t) && t.includes(e), n), n) : e ? X(e, (e, n) => typeof n == "string" && ri.test(n) || typeof n == "bigint" ? n.toString() + "n" : typeof t == "function" ? t(e, n) : (Array.isArray(t) && t.includes(e), n), n).replace(oi, "$1$2$3").replace(si, "$1$2$3") : X(e, t, n);
	} catch (r) {
		if (r instanceof RangeError) {
			let r = ui(e, t, n);
			return r === void 0 ? void 0 : "rawJSON" in JSON ? r : r.replace(oi, "$1$2$3").replace(si, "$1$2$3");
		}
		throw r;
	}
}, fi = /* @__PURE__ */ new Map(), pi = () => {
	let e = JSON.parse.toString();
	if (fi.has(e)) return fi.get(e);
	try {
		let t = JSON.parse("1", (e, t, n) => !!n?.source && n.source === "1");
		return fi.set(e, t), t;
	} catch {
		return fi.set(e, !1), !1;
	}
}, mi = (e, t, n, r) => typeof t == "string" && ai.test(t) ? BigInt(t.slice(0, -1)) : typeof t == "string" && ri.test(t) ? t.slice(0, -1) : typeof r == "function" ? r(e, t, n) : t, hi = (e, t) => JSON.parse(e, (e, n, r) => {
	let i = typeof n == "number" && (n > 2 ** 53 - 1 || n < -(2 ** 53 - 1)), a = r && ni.test(r.source);
	return i && a ? BigInt(r.source) : typeof t == "function" ? t(e, n, r) : n;
}), gi = (2 ** 53 - 1).toString(), _i = gi.length, vi = /"(?:[^"\\]|\\.)*"|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/g, yi = /^"-?\d+n+"$/, bi = (e, t) => {
	let n = { "": e }, r = [{
		parent: n,
		key: "",
		visited: !1
	}];
	for (; r.length > 0;) {
		let e = r[r.length - 1];
		if (e.visited) {
			let { parent: n, key: i } = e, a = n[i];
			typeof a == "string" && (ai.test(a) ? a = BigInt(a.slice(0, -1)) : ri.test(a) && (a = a.slice(0, -1))), typeof t == "function" && (a = t.call(n, i, a)), a === void 0 ? delete n[i] : n[i] = a, r.pop();
		} else {
			e.visited = !0;
			let t = e.parent[e.key];
			if (typeof t == "object" && t) {
				let e = Object.keys(t);
				for (let n = e.length - 1; n >= 0; n--) r.push({
					parent: t,
					key: e[n],
					visited: !1
				});
			}
		}
	}
	return n[""];
}, xi = (e) => e.replace(vi, (e, t, n, r) => {
	let i = e[0] === "\"";
	if (i && yi.test(e)) return e.substring(0, e.length - 1) + "n\"";
	let a = n || r, o = t && (t.length < _i || t.length === _i && t <= gi);
	return i || a || o ? e : "\"" + e + "n\"";
}), Si = (e, t) => {
	if (!e) return ii(e, t);
	try {
		return pi() ? hi(e, t) : ii(xi(e), (e, n, r) => mi(e, n, r, t));
	} catch (n) {
		if (n instanceof RangeError) return bi(ii(xi(e)), t);
		throw n;
	}
}, Ci = class extends Error {
	name;
	status;
	request;
	response;
	constructor(e, t, n) {
		/* v8 ignore else -- @preserve -- Bug with vitest coverage where it sees an else branch that doesn't exist */
		super(e, { cause: n.cause }), this.name = "HttpError", this.status = Number.parseInt(t), Number.isNaN(this.status) && (this.status = 0), "response" in n && (this.response = n.response);
		let r = Object.assign({}, n.request);
		n.request.headers.authorization && (r.headers = Object.assign({}, n.request.headers, { authorization: n.request.headers.authorization.replace(/(?<! ) .*$/, " [REDACTED]") })), r.url = r.url.replace(/\bclient_secret=\w+/g, "client_secret=[REDACTED]").replace(/\baccess_token=\w+/g, "access_token=[REDACTED]"), this.request = r;
	}
}, wi = { headers: { "user-agent": `octokit-request.js/10.0.16 ${lr()}` } };
function Ti(e) {
	if (typeof e != "object" || !e || Object.prototype.toString.call(e) !== "[object Object]") return !1;
	let t = Object.getPrototypeOf(e);
	if (t === null) return !0;
	let n = Object.prototype.hasOwnProperty.call(t, "constructor") && t.constructor;
	return typeof n == "function" && n instanceof n && Function.prototype.call(n) === Function.prototype.call(e);
}
var Ei = () => "";
async function Di(e) {
	let t = e.request?.fetch || globalThis.fetch;
	if (!t) throw Error("fetch is not set. Please pass a fetch implementation as new Octokit({ request: { fetch }}). Learn more at https://github.com/octokit/octokit.js/#fetch-missing");
	let n = e.request?.log || console, r = e.request?.parseSuccessResponseBody !== !1, i = Ti(e.body) || Array.isArray(e.body) ? di(e.body) : e.body, a = Object.fromEntries(Object.entries(e.headers).map(([e, t]) => [e, String(t)])), o;
	try {
		o = await t(e.url, {
			method: e.method,
			body: i,
			redirect: e.request?.redirect,
			headers: a,
			signal: e.request?.signal,
			...e.body && { duplex: "half" }
		});
	} catch (t) {
		let n = "Unknown Error";
		if (t instanceof Error) {
			if (t.name === "AbortError") throw t.status = 500, t;
			n = t.message, t.name === "TypeError" && "cause" in t && (t.cause instanceof Error ? n = t.cause.message : typeof t.cause == "string" && (n = t.cause));
		}
		let r = new Ci(n, 500, { request: e });
		throw r.cause = t, r;
	}
	let s = o.status, c = o.url, l = {};
	for (let [e, t] of o.headers) l[e] = t;
	let u = {
		url: c,
		status: s,
		headers: l,
		data: ""
	};
	if ("deprecation" in l) {
		let t = l.link && l.link.match(/<([^<>]+)>; rel="deprecation"/), r = t && t.pop();
		n.warn(`[@octokit/request] "${e.method} ${e.url}" is deprecated. It is scheduled to be removed on ${l.sunset}${r ? `. See ${r}` : ""}`);
	}
	if (s === 204 || s === 205) return u;
	if (e.method === "HEAD") {
		if (s < 400) return u;
		throw new Ci(o.statusText, s, {
			response: u,
			request: e
		});
	}
	if (s === 304) throw u.data = await Oi(o), new Ci("Not modified", s, {
		response: u,
		request: e
	});
	if (s >= 400) throw u.data = await Oi(o), new Ci(Ai(u.data), s, {
		response: u,
		request: e
	});
	return u.data = r ? await Oi(o) : o.body, u;
}
async function Oi(e) {
	let t = e.headers.get("content-type");
	if (!t) return e.text().catch(Ei);
	let n = $r(t);
	if (ki(n)) {
		let t = "";
		try {
			return t = await e.text(), Si(t);
		} catch {
			return t;
		}
	}
	return n.type.startsWith("text/") || n.parameters.charset?.toLowerCase() === "utf-8" && n.type !== "application/octet-stream" ? e.text().catch(Ei) : e.arrayBuffer().catch(
		/* v8 ignore next -- @preserve */
		() => /* @__PURE__ */ new ArrayBuffer(0)
	);
}
function ki(e) {
	return e.type === "application/json" || e.type === "application/scim+json";
}
function Ai(e) {
	if (typeof e == "string") return e;
	if (e instanceof ArrayBuffer) return "Unknown error";
	if (typeof e == "object" && e && "message" in e) {
		let t = e, n = "documentation_url" in t ? ` - ${t.documentation_url}` : "";
		return Array.isArray(t.errors) ? `${t.message}: ${t.errors.map((e) => JSON.stringify(e)).join(", ")}${n}` : `${t.message}${n}`;
	}
	return `Unknown error: ${JSON.stringify(e)}`;
}
function ji(e, t) {
	let n = e.defaults(t);
	return Object.assign(function(e, t) {
		let r = n.merge(e, t);
		if (!r.request || !r.request.hook) return Di(n.parse(r));
		let i = (e, t) => Di(n.parse(n.merge(e, t)));
		return Object.assign(i, {
			endpoint: n,
			defaults: ji.bind(null, n)
		}), r.request.hook(i, r);
	}, {
		endpoint: n,
		defaults: ji.bind(null, n)
	});
}
var Mi = ji(zr, wi), Ni = "0.0.0-development";
function Pi(e) {
	return "Request failed due to following response errors:\n" + e.errors.map((e) => ` - ${e.message}`).join("\n");
}
var Fi = class extends Error {
	constructor(e, t, n) {
		super(Pi(n)), this.request = e, this.headers = t, this.response = n, this.errors = n.errors, this.data = n.data, Error.captureStackTrace && Error.captureStackTrace(this, this.constructor);
	}
	request;
	headers;
	response;
	name = "GraphqlResponseError";
	errors;
	data;
}, Ii = [
	"method",
	"baseUrl",
	"url",
	"headers",
	"request",
	"query",
	"mediaType",
	"operationName"
], Li = [
	"query",
	"method",
	"url"
], Ri = /\/api\/v3\/?$/;
function zi(e, t, n) {
	if (n) {
		if (typeof t == "string" && "query" in n) return Promise.reject(/* @__PURE__ */ Error("[@octokit/graphql] \"query\" cannot be used as variable name"));
		for (let e in n) if (Li.includes(e)) return Promise.reject(/* @__PURE__ */ Error(`[@octokit/graphql] "${e}" cannot be used as variable name`));
	}
	let r = typeof t == "string" ? Object.assign({ query: t }, n) : t, i = Object.keys(r).reduce((e, t) => Ii.includes(t) ? (e[t] = r[t], e) : (e.variables ||= {}, e.variables[t] = r[t], e), {}), a = r.baseUrl || e.endpoint.DEFAULTS.baseUrl;
	return Ri.test(a) && (i.url = a.replace(Ri, "/api/graphql")), e(i).then((e) => {
		if (e.data.errors) {
			let t = {};
			for (let n of Object.keys(e.headers)) t[n] = e.headers[n];
			throw new Fi(i, t, e.data);
		}
		return e.data.data;
	});
}
function Bi(e, t) {
	let n = e.defaults(t);
	return Object.assign((e, t) => zi(n, e, t), {
		defaults: Bi.bind(null, n),
		endpoint: n.endpoint
	});
}
Bi(Mi, {
	headers: { "user-agent": `octokit-graphql.js/${Ni} ${lr()}` },
	method: "POST",
	url: "/graphql"
});
function Vi(e) {
	return Bi(e, {
		method: "POST",
		url: "/graphql"
	});
}
/* v8 ignore if -- @preserve */
// node_modules/@octokit/auth-token/dist-bundle/index.js
var Hi = "(?:[a-zA-Z0-9_-]+)", Ui = "\\.", Wi = RegExp(`^${Hi}${Ui}${Hi}${Ui}${Hi}$`), Gi = Wi.test.bind(Wi);
async function Ki(e) {
	let t = Gi(e), n = e.startsWith("v1.") || e.startsWith("ghs_"), r = e.startsWith("ghu_");
	return {
		type: "token",
		token: e,
		tokenType: t ? "app" : n ? "installation" : r ? "user-to-server" : "oauth"
	};
}
function qi(e) {
	return e.split(/\./).length === 3 ? `bearer ${e}` : `token ${e}`;
}
async function Ji(e, t, n, r) {
	let i = t.endpoint.merge(n, r);
	return i.headers.authorization = qi(e), t(i);
}
var Yi = function(e) {
	if (!e) throw Error("[@octokit/auth-token] No token passed to createTokenAuth");
	if (typeof e != "string") throw Error("[@octokit/auth-token] Token passed to createTokenAuth is not a string");
	return e = e.replace(/^(token|bearer) +/i, ""), Object.assign(Ki.bind(null, e), { hook: Ji.bind(null, e) });
}, Xi = "7.0.8", Zi = () => {}, Qi = console.warn.bind(console), $i = console.error.bind(console);
function ea(e = {}) {
	return typeof e.debug != "function" && (e.debug = Zi), typeof e.info != "function" && (e.info = Zi), typeof e.warn != "function" && (e.warn = Qi), typeof e.error != "function" && (e.error = $i), e;
}
var ta = `octokit-core.js/${Xi} ${lr()}`, na = class {
	static VERSION = Xi;
	static defaults(e) {
		return class extends this {
			constructor(...t) {
				let n = t[0] || {};
				super(typeof e == "function" ? e(n) : Object.assign({}, e, n, n.userAgent && e.userAgent ? { userAgent: `${n.userAgent} ${e.userAgent}` } : null));
			}
		};
	}
	static plugins = [];
	static plugin(...e) {
		let t = this.plugins;
		return class extends this {
			static plugins = t.concat(e.filter((e) => !t.includes(e)));
		};
	}
	constructor(e = {}) {
		let t = new vr.Collection(), n = {
			baseUrl: Mi.endpoint.DEFAULTS.baseUrl,
			headers: {},
			request: Object.assign({}, e.request, { hook: t.bind(null, "request") }),
			mediaType: {
				previews: [],
				format: ""
			}
		};
		if (n.headers["user-agent"] = e.userAgent ? `${e.userAgent} ${ta}` : ta, e.baseUrl && (n.baseUrl = e.baseUrl), e.previews && (n.mediaType.previews = e.previews), e.timeZone && (n.headers["time-zone"] = e.timeZone), this.request = Mi.defaults(n), this.graphql = Vi(this.request).defaults(n), this.log = ea(e.log), this.hook = t, e.authStrategy) {
			let { authStrategy: n, ...r } = e, i = n(Object.assign({
				request: this.request,
				log: this.log,
				octokit: this,
				octokitOptions: r
			}, e.auth));
			t.wrap("request", i.hook), this.auth = i;
		} else if (!e.auth) this.auth = async () => ({ type: "unauthenticated" });
		else {
			let n = Yi(e.auth);
			t.wrap("request", n.hook), this.auth = n;
		}
		let r = this.constructor;
		for (let t = 0; t < r.plugins.length; ++t) Object.assign(this, r.plugins[t](this, e));
	}
	request;
	graphql;
	log;
	hook;
	auth;
}, ra = "2022-11-28";
function ia({ token: e, apiUrl: t, graphqlUrl: n, userAgent: r }) {
	let i = {
		debug: aa,
		info: aa,
		warn: aa,
		error: aa
	}, a = new na({
		auth: e,
		baseUrl: t.replace(/\/+$/, ""),
		userAgent: r,
		log: i,
		request: { log: i }
	});
	return a.hook.before("request", (e) => {
		e.headers["x-github-api-version"] = ra, e.url === "/graphql" && (e.url = n);
	}), a;
}
function aa() {}
// node_modules/.fencepost-build/src/protocol/doubt.js
var oa = 2 / 3;
function sa(e, t) {
	return Math.max(t.wall - e.wall, t.monotonic - e.monotonic);
}
function ca(e, t, n) {
	return !(sa(t, n) < e * oa);
}
// node_modules/.fencepost-build/src/lease/lease.js
var Z = 50;
async function la(e, t) {
	let { store: n, clock: r } = e, i = r.read().monotonic, a, o = 0, s = !1, c = -Infinity;
	for (let l = 0; l < Z;) {
		let u = r.read(), d = [B(t.lease), ...t.also ?? []], { now: f, records: p } = await n.read(d, t), m = z(p[0] ?? null), h = r.read().monotonic;
		m && m.oid !== a?.oid && (a = {
			oid: m.oid,
			since: h
		});
		let g = {
			...t,
			now: f,
			skew: n.stamps ? 0 : t.skew,
			unchangedFor: a ? h - a.since : 0,
			witness: o,
			keepChain: s,
			nonce: e.chance.nonce()
		};
		o = Math.max(o, m?.record.token ?? 0);
		let _ = It(m, g);
		if (_.outcome === "refuse" && await t.finished?.(_.holding.record.holder) && (_ = It(m, {
			...g,
			holderFinished: !0
		})), _.outcome === "grant") {
			let { write: i, reason: a } = _, o = await ha(n, i, t).catch((e) => {
				if (!(e instanceof U) || !i.root || i.expected === null) throw e;
				return s = !0, null;
			});
			if (o) return {
				outcome: "acquired",
				holding: o,
				reason: a,
				before: m,
				sentAt: u,
				now: f,
				also: p.slice(1)
			};
			l++, await r.sleep(ga(e.chance, Math.min(20 * 2 ** l, 1e3)), t.signal);
			continue;
		}
		let ee = {
			seen: _.holding,
			expiresAt: _.expiresAt,
			now: f,
			also: p.slice(1)
		}, te = h - i;
		if (te >= t.wait) return {
			outcome: "skipped_overlap",
			waitedFor: te,
			...ee
		};
		(a?.since === h || h - c >= 3e4) && (c = h, t.onHeld?.(ee, te)), l = 0, await da(e, t, ee, h, i + t.wait);
	}
	throw new H(`The lease ${JSON.stringify(t.lease)} changed ${Z} times while it was being acquired. Try again later.`);
}
var ua = 3e4;
async function da(e, t, n, r, i) {
	let { store: a, clock: o } = e, { seen: s } = n, c = Math.min(Math.max(s.record.ttl, 5e3) / 20, 5e3), l = r + (n.expiresAt - n.now) + (a.stamps ? 0 : t.skew), u = {
		name: B(t.lease),
		oid: s.oid
	};
	for (let n = r;;) {
		let r = o.read().monotonic;
		await o.sleep(Math.max(Math.min(ga(e.chance, c), i - r), 1), t.signal);
		let d = o.read().monotonic;
		if (a.unchanged === void 0 || d >= l || d >= i || !await a.unchanged(u, t) || !(t.finished === void 0 || d - n < ua) && (n = d, await t.finished(s.record.holder))) return;
	}
}
async function fa(e, t, n, r = {}, i = t) {
	let a = i;
	for (let i = 0; i < Z; i++) {
		let i = e.clock.read(), { slots: o } = r, s = e.chance.nonce(), c = Bt(a, t, {
			event: n,
			nonce: s,
			...o ? { slots: o } : {}
		});
		if (c === null) return Rt(t.lease, a, t.token), {
			outcome: "not-mine",
			seen: a
		};
		let l = await ha(e.store, c, r);
		if (l) return {
			outcome: "written",
			holding: l,
			sentAt: i
		};
		a = await ma(e.store, t.lease, r);
	}
	throw new H(`The lease ${JSON.stringify(t.lease)} changed ${Z} times while it was being ${n}. Try again later.`);
}
async function pa(e, t) {
	for (let n = 0; n < Z; n++) {
		let { now: n, records: r } = await e.store.read([B(t.lease)]), i = z(r[0] ?? null), a = Vt(i, {
			...t,
			now: n,
			nonce: e.chance.nonce()
		});
		if (a.outcome !== "unlock") return a;
		let o = await ha(e.store, a.write, {});
		if (o) return {
			outcome: "unlocked",
			token: o.token,
			was: i
		};
	}
	throw new H(`The lease ${JSON.stringify(t.lease)} changed ${Z} times while it was being unlocked. Try again later.`);
}
async function ma(e, t, n = {}) {
	let { records: r } = await e.read([B(t)], n);
	return z(r[0] ?? null);
}
async function ha(e, { record: t, expected: n, root: r }, i) {
	let a = {
		message: Mt(t),
		root: r
	}, o = await e.swap([{
		name: B(t.name),
		expected: n,
		next: a
	}], i), s = o.outcome === "applied" ? o.written[0] : null;
	if (!s) return null;
	let { token: c, name: l, holder: u } = t;
	return {
		lease: l,
		token: c,
		claim: u,
		oid: s.oid,
		record: t,
		writtenAt: s.writtenAt
	};
}
function ga(e, t) {
	return t * (.75 + e.random() / 2);
}
// node_modules/.fencepost-build/src/lease/heartbeat.js
var _a = {
	noun: "lease",
	name: ({ lease: e }) => e,
	read: (e, { lease: t }, n) => ma(e, t, n),
	isMine: zt,
	async renew(e, t, n, r) {
		let i = await fa(e, t, "renewed", n, r);
		if (i.outcome === "written") return i;
		let { seen: a } = i;
		return {
			outcome: "not-mine",
			by: a ? `token ${a.record.token} is ${a.record.state}` : "its record is gone"
		};
	}
};
function va(e) {
	return ya(e, _a);
}
async function ya(e, t) {
	let { clock: n, signal: r, onBeat: i } = e, { holding: a, sentAt: o } = e, s = a.record.ttl ?? 0, c = s / 3, l;
	for (; !r.aborted;) {
		let u = n.read();
		if (ca(s, o, u)) return i({
			event: "lost",
			why: "doubt",
			detail: `no renewal of ${x(t.name(a))} succeeded for two thirds of its TTL`
		});
		let d = sa(o, u);
		if (d >= c) {
			let f = await ba(e, Math.min(s / 5, s * oa - d), (n) => xa(e, t, a, l, n));
			if (r.aborted || (i(f), f.event === "lost" || f.event === "ended")) return;
			f.event === "renewed" ? ({holding: a, sentAt: o} = f, l = void 0) : l ??= u, c = f.event === "renewed" ? s / 3 : sa(o, n.read()) + s / 24;
		}
		await n.sleep(Math.min(1e3, s / 30), r).catch(() => {});
	}
}
async function ba({ clock: e, signal: t }, n, r) {
	let i = new AbortController(), a = new AbortController(), o = e.sleep(n, AbortSignal.any([i.signal, t])).catch(() => {}).then(() => (a.abort(/* @__PURE__ */ Error("the store did not answer in time")), {
		event: "failing",
		why: "the store did not answer in time"
	}));
	try {
		return await Promise.race([r(a.signal), o]);
	} finally {
		i.abort();
	}
}
async function xa(e, t, n, r, i) {
	try {
		let a = n;
		if (r && (a = await t.read(e.store, n, { signal: i }), t.isMine(a, n) && a.oid !== n.oid)) return {
			event: "renewed",
			holding: {
				...n,
				...a
			},
			sentAt: r
		};
		let o = await t.renew(e, n, { signal: i }, a);
		return o.outcome === "written" ? {
			event: "renewed",
			holding: o.holding,
			sentAt: o.sentAt
		} : o.outcome === "ended" ? { event: "ended" } : {
			event: "lost",
			why: "superseded",
			detail: `the ${t.noun} ${x(t.name(n))} is no longer ours: ${o.by}`
		};
	} catch (e) {
		return e instanceof jt ? {
			event: "lost",
			why: "regressed",
			detail: e.message
		} : {
			event: "failing",
			why: e instanceof Error ? e.message : String(e)
		};
	}
}
// node_modules/.fencepost-build/src/store/github-verdict.js
function Sa(e, t, n) {
	let r = e.map((e, r) => Ca(e, t[r] ?? null, n, r));
	return r.some((e) => e !== null) ? {
		verdict: "applied",
		written: e.map(({ next: e }, t) => e === null ? null : r[t] ?? n.commits?.[t] ?? null)
	} : e.every(({ next: e }) => e === null) && t.every((e) => e === null) ? {
		verdict: "applied",
		written: e.map(() => null)
	} : { verdict: e.some(({ expected: e }, n) => (t[n]?.oid ?? null) !== e) ? "conflict" : "unmoved" };
}
function Ca(e, t, n, r) {
	if (t === null || e.next === null) return null;
	let { before: i, ...a } = t, { message: o } = e.next, s = n.commits?.[r]?.oid;
	for (let t of [a, i]) {
		if (t === null) continue;
		if (t.oid === s) return t;
		let r = t.parents.length === 1 && t.parents[0] === e.expected;
		if (n.unnamed && r && wa(t.message, o)) return t;
	}
	return null;
}
function wa(e, t) {
	return Ta(e) === Ta(t);
}
function Ta(e) {
	return e.replace(/\s+/g, " ").trim();
}
function Ea(e) {
	let [t = "", ...n] = e.split("\n"), r = n.join("\n");
	return t === "" || t !== t.trim() ? null : r.trim() === "" ? {
		headline: t,
		body: ""
	} : r.startsWith("\n") ? {
		headline: t,
		body: r.replace(/^\n+/, "").trimEnd()
	} : null;
}
// node_modules/.fencepost-build/src/store/github-swap.js
async function Da(e, t, n, r) {
	let { place: i, repository: a } = e, o = Rn(e, "write to", r), s = n.length === 1 ? n[0] : void 0, c = Oa(n, t), l = null, u = !1, d = !1, f = [];
	async function p() {
		if (c === "child" && s?.next && s.expected) return m(s, s.next.message, s.expected);
		if (l === null) {
			let e = await ka(o, t, n);
			if (!Array.isArray(e)) return e;
			l = e;
		}
		if (c === "refs") return h(l);
		let e = l[0]?.oid, r = b(i.prefix, s.name), a = c === "create" ? await o.rest("POST /repos/{owner}/{repo}/git/refs", {
			ref: r,
			sha: e
		}) : await o.rest("PATCH /repos/{owner}/{repo}/git/refs/{ref}", {
			ref: r.slice(5),
			sha: e,
			force: !1
		});
		return a.kind === "ok" && _n(a.data) === e ? {
			kind: "applied",
			written: l
		} : Aa(a);
	}
	async function m(e, t, n) {
		let r = Ea(t) ?? {
			headline: t,
			body: ""
		}, a = await o.graphql(dn(i, e.name, n, r));
		if (u = !0, a.kind === "no" && a.code === "STALE_DATA") return { kind: "stale" };
		if (a.kind !== "ok") return Aa(a);
		let s = ja(() => fn(e.name, a.data));
		return s ? {
			kind: "applied",
			written: [s]
		} : Aa(a);
	}
	async function h(r) {
		t.repositoryId ??= await o.read(an(i, []), (e) => on(e, []).repositoryId);
		let a = n.map((e, t) => ({
			name: b(i.prefix, e.name),
			before: e.expected,
			after: r[t]?.oid ?? null,
			force: e.expected !== null && e.next?.root === !0
		})), s = e.chance.nonce(), c = await o.graphql(mn(t.repositoryId, a, s));
		return c.kind === "ok" && hn(c.data, s) ? {
			kind: "applied",
			written: [...r]
		} : Aa(c);
	}
	async function g(e) {
		let t = n.map(({ name: e }) => e);
		for (let r = 1; r <= 3; r++) {
			await o.pause(r);
			let a = await o.graphql(an(i, t, !0)), s = a.kind === "ok" ? ja(() => on(a.data, t).tips) : null;
			if (s === null) continue;
			let c = Sa(n, s, {
				commits: l,
				unnamed: u
			});
			if (c.verdict !== "unmoved" || !e) return c;
		}
		return { verdict: "unmoved" };
	}
	for (let n = 1; n <= 3; n++) {
		let n = await p();
		if (f.push(n), n.kind === "applied") return c === "patch" && Ma(e, t, f), {
			outcome: "applied",
			written: n.written
		};
		if (n.kind === "stale" && !d) return { outcome: "conflict" };
		d = !0;
		let r = await g(n.kind === "stale");
		if (r.verdict === "applied") return {
			outcome: "applied",
			written: r.written
		};
		if (r.verdict === "conflict") return { outcome: "conflict" };
		c === "child" && n.kind === "open" && n.certainty !== "none" && (c = "patch");
	}
	throw Na(a, e.place.prefix, n, f);
}
function Oa(e, t) {
	let [n] = e;
	return e.length !== 1 || !n?.next ? "refs" : n.expected === null ? "create" : n.next.root === !0 || Ea(n.next.message) === null ? "refs" : t.oneRequest ? "child" : "patch";
}
async function ka(e, t, n) {
	let r = [];
	for (let i of n) {
		let n = await Bn(e, t, i);
		if (n.kind === "failed") return {
			kind: "open",
			certainty: n.code === "unknown" ? "none" : "definite",
			words: n.words
		};
		r.push(n.commit);
	}
	return r;
}
function Aa(e) {
	switch (e.kind) {
		case "no": return {
			kind: "open",
			certainty: "definite",
			words: e.words
		};
		case "unknown": return {
			kind: "open",
			certainty: e.answered ? "answered" : "none",
			words: e.words
		};
		case "ok":
		case "unchanged": return {
			kind: "open",
			certainty: "none",
			words: "an answer without what was asked for"
		};
	}
}
function ja(e) {
	try {
		return e();
	} catch (e) {
		if (e instanceof TypeError) return null;
		throw e;
	}
}
function Ma(e, t, n) {
	let r = n[0];
	r?.kind === "open" && t.oneRequest && (e.warn(`GitHub would not commit to ${e.repository} in one request (${r.words}), so the record was written in two. Nothing is lost; it costs one request more.`), r.certainty === "definite" && (t.oneRequest = !1));
}
function Na(e, t, n, r) {
	let i = r.findLast((e) => e.kind === "open")?.words ?? "", a = r.every((e) => e.kind === "open" && e.certainty === "definite"), o = n.some(({ next: e, expected: t }) => e?.root === !0 && t !== null), s = r.every((e) => e.kind === "open" && e.certainty !== "none");
	if (a || o && s) {
		let a = n.map(({ name: e }) => b(t, e).slice(11)).join(", ");
		return new U(`Could not write to ${e}: GitHub refused ${r.length} times to move ${a}, though it was where it was expected: ${i}. A rule of the repository may cover such branches: exclude ${t}/** from it. Or a branch is named ${t}, which git cannot hold beside ${t}/…: rename it, or choose another ref-prefix.`);
	}
	return new H(`Could not write to ${e}: GitHub did not say whether the record was written, ${r.length} times, last with: ${i}. It may have been; read it again before acting. githubstatus.com tells of GitHub's own faults.`);
}
function Pa(e) {
	let [, t, n] = /^([\w.-]+)\/([\w.-]+)$/.exec(e) ?? [];
	if (t !== void 0 && n !== void 0 && !/^\.+$/.test(t) && !/^\.+$/.test(n)) return {
		owner: t,
		name: n
	};
	throw new Xt(`The repository ${JSON.stringify(e)} cannot be used: GitHub names one as owner/name. A good one: octo/blog`);
}
// node_modules/.fencepost-build/src/store/github.js
function Fa({ repository: e, prefix: t, waitLimit: n = 6e4, forkPullRequest: r = !1, ...i }) {
	let a = {
		...Pa(e),
		prefix: t
	};
	return {
		setup: {
			...i,
			repository: e,
			place: a,
			waitLimit: n,
			forkPullRequest: r
		},
		memory: {
			repositoryId: null,
			tree: zn,
			oneRequest: !0
		}
	};
}
function Ia({ setup: e, memory: t }) {
	let { place: n, repository: r } = e, i = /* @__PURE__ */ new Map();
	async function a(r, i = {}) {
		return Rn(e, "read from", i).read(an(n, r), (e, n) => {
			let { repositoryId: i, tips: a } = on(e, r);
			if (n === null) throw TypeError("no Date header in the answer");
			return t.repositoryId = i, {
				now: n,
				records: a.map(La)
			};
		});
	}
	async function o(t, { signal: r } = {}) {
		let a = i.get(t.name), { owner: o, name: s } = n, c = await En(e.octokit, "GET /repos/{owner}/{repo}/git/ref/{ref}", {
			owner: o,
			repo: s,
			ref: b(n.prefix, t.name).slice(5),
			...a ? { headers: { "if-none-match": a.etag } } : {}
		}, r);
		if (c.kind === "unchanged") return a?.oid === t.oid;
		if (i.delete(t.name), c.kind !== "ok") return !1;
		let l = _n(c.data);
		return l !== void 0 && c.etag !== null && i.set(t.name, {
			etag: c.etag,
			oid: l
		}), l === t.oid;
	}
	return {
		label: `GitHub repository ${r}`,
		stamps: !0,
		read: a,
		async *list(t, r = {}) {
			let i = Rn(e, "read from", r), a = t.slice(0, t.lastIndexOf("/") + 1);
			for (let e = null, r = !0; r;) {
				let o = await i.read(sn(n, a, e), (e) => cn(n, e));
				for (let e of o.records) e.name.startsWith(t) && (yield e);
				e = o.next, r = e !== null;
			}
		},
		async history(t, r, i = {}) {
			let a = Rn(e, "read from", i), o = [];
			for (let e = null; o.length < r;) {
				let i = Math.min(100, r - o.length), s = ln(n, t, i, e), c = await a.read(s, (e) => un(t, e));
				if (o.push(...c.records), e = c.next, e === null) break;
			}
			return o;
		},
		swap: (n, r = {}) => Da(e, t, n, r),
		unchanged: o,
		async close() {}
	};
}
function La(e) {
	if (e === null) return null;
	let { before: t, ...n } = e;
	return n;
}
// node_modules/@noble/hashes/legacy.js
var Ra = /* @__PURE__ */ Uint32Array.from([
	1732584193,
	4023233417,
	2562383102,
	271733878,
	3285377520
]), Q = /* @__PURE__ */ new Uint32Array(80), za = class extends oe {
	A = Ra[0] | 0;
	B = Ra[1] | 0;
	C = Ra[2] | 0;
	D = Ra[3] | 0;
	E = Ra[4] | 0;
	constructor() {
		super(64, 20, 8, !1);
	}
	get() {
		let { A: e, B: t, C: n, D: r, E: i } = this;
		return [
			e,
			t,
			n,
			r,
			i
		];
	}
	set(e, t, n, r, i) {
		this.A = e | 0, this.B = t | 0, this.C = n | 0, this.D = r | 0, this.E = i | 0;
	}
	_cloneInto(e) {
		return (e ||= new this.constructor()).set(...this.get()), this._cloneIntoMeta(e);
	}
	process(e, t) {
		for (let n = 0; n < 16; n++, t += 4) Q[n] = e.getUint32(t, !1);
		for (let e = 16; e < 80; e++) Q[e] = m(Q[e - 3] ^ Q[e - 8] ^ Q[e - 14] ^ Q[e - 16], 1);
		let { A: n, B: r, C: i, D: a, E: o } = this;
		for (let e = 0; e < 80; e++) {
			let t, s;
			e < 20 ? (t = ie(r, i, a), s = 1518500249) : e < 40 ? (t = r ^ i ^ a, s = 1859775393) : e < 60 ? (t = ae(r, i, a), s = 2400959708) : (t = r ^ i ^ a, s = 3395469782);
			let c = m(n, 5) + t + o + s + Q[e] | 0;
			o = a, a = i, i = m(r, 30), r = n, n = c;
		}
		n = n + this.A | 0, r = r + this.B | 0, i = i + this.C | 0, a = a + this.D | 0, o = o + this.E | 0, this.set(n, r, i, a, o);
	}
	roundClean() {
		d(Q);
	}
	destroy() {
		this.destroyed = !0, this.set(0, 0, 0, 0, 0), d(this.buffer);
	}
}, Ba = /* @__PURE__ */ ne(() => new za());
// node_modules/.fencepost-build/src/store/memory.js
function Va(e) {
	let t = /* @__PURE__ */ new Map(), n = /* @__PURE__ */ new Map(), r = (e) => t.get(e) ?? null;
	function i({ name: t, expected: n, next: r }) {
		if (r === null) return null;
		let i = Math.floor(e.now() / 1e3) * 1e3, a = n === null || r.root ? [] : [n];
		return {
			name: t,
			oid: _(Ba(ee(JSON.stringify([
				a,
				r.message,
				i
			])))),
			writtenAt: i,
			parents: a,
			message: r.message
		};
	}
	return {
		label: "memory",
		stamps: !0,
		tip: r,
		async read(t) {
			let n = t.map(r), i = e.now();
			return await e.afterRead?.(t), {
				now: i,
				records: n
			};
		},
		async *list(e) {
			yield* [...t.values()].filter((t) => t.name.startsWith(e));
		},
		async history(e, t) {
			let i = [];
			for (let a = r(e); a && i.length < t; a = n.get(a.parents[0] ?? "") ?? null) i.push(a);
			return i;
		},
		async swap(e) {
			let a = e.map(i);
			return e.every((e, t) => {
				let n = r(e.name)?.oid ?? null;
				return n === e.expected || n !== null && n === a[t]?.oid;
			}) ? (e.forEach(({ name: e }, r) => {
				let i = a[r] ?? null;
				i === null ? t.delete(e) : (t.set(e, i), n.set(i.oid, i));
			}), {
				outcome: "applied",
				written: a
			}) : { outcome: "conflict" };
		},
		async close() {}
	};
}
// node_modules/.fencepost-build/src/web.js
var Ha = {
	read: () => ({
		wall: Date.now(),
		monotonic: performance.now()
	}),
	sleep: (e, t) => new Promise((n, r) => {
		if (t?.aborted) return r(t.reason);
		let i = () => {
			clearTimeout(a), r(t?.reason);
		}, a = setTimeout(() => {
			t?.removeEventListener("abort", i), n();
		}, e);
		t?.addEventListener("abort", i, { once: !0 });
	})
}, Ua = {
	nonce: () => crypto.randomUUID(),
	random: () => Math.random()
}, Wa = y, Ga = at, Ka = L, qa = jt, Ja = H, Ya = U, Xa = Xt, Za = {
	least: 2e3,
	most: 6048e5
}, Qa = {
	least: 0,
	most: 6048e5
}, $a = (e) => ({
	store: e,
	clock: Ha,
	chance: Ua
}), $ = (e) => e, eo = (e) => e, to = /* @__PURE__ */ new WeakMap();
function no(e) {
	let { token: t, repository: n, prefix: r = fe, warn: i = () => {} } = e, { apiUrl: a = "https://api.github.com", graphqlUrl: o = "https://api.github.com/graphql" } = e, s = ia({
		token: t,
		apiUrl: a,
		graphqlUrl: o,
		userAgent: "fencepost"
	}), c = Ha, l = Ua, u = Fa({
		octokit: s,
		repository: n,
		prefix: ve(r),
		clock: c,
		chance: l,
		warn: i
	}), d = Ia(u);
	return to.set(d, u), d;
}
function ro() {
	return Va({ now: () => Date.now() });
}
async function io(e, t) {
	let n = go("ttl", t.ttl ?? 9e5, Za), r = await la($a(e), {
		lease: pe(t.lease),
		claim: mo(t),
		ttl: n,
		skew: Ft(n),
		wait: go("wait", t.wait ?? 0, Qa),
		signal: t.signal,
		onHeld: ({ seen: e }) => t.onHeld?.(ho(e))
	});
	return r.outcome === "acquired" ? {
		outcome: "acquired",
		holding: eo(r.holding),
		reason: r.reason
	} : {
		outcome: "skipped_overlap",
		...ho(r.seen)
	};
}
function ao(e, t, n = {}) {
	return so(e, t, "renewed", n);
}
async function oo(e, t, n = {}) {
	let r = await so(e, t, "released", n);
	return r.outcome === "superseded" ? r : { outcome: "released" };
}
async function so(e, t, n, r) {
	let i = await fa($a(e), $(t), n, r);
	if (i.outcome === "written") return {
		outcome: n,
		holding: eo(i.holding)
	};
	let a = i.seen ? `it is now: ${ar(i.seen, Date.now())}` : "its record is gone";
	return {
		outcome: "superseded",
		why: `Token ${t.token} no longer holds the lease ${JSON.stringify(t.lease)}; ${a}.`
	};
}
function co(e, t, { onLost: n, onFailing: r } = {}) {
	let i = new AbortController(), a = t, o = !1, { wall: s, monotonic: c } = Ha.read(), l = Math.min(Math.max(s - t.writtenAt, 0), $(t).record.ttl / 3), u = va({
		...$a(e),
		holding: $(t),
		sentAt: {
			wall: s - l,
			monotonic: c - l
		},
		signal: i.signal,
		onBeat(e) {
			e.event === "renewed" ? a = eo(e.holding) : e.event === "failing" ? r?.(e.why) : e.event === "lost" && (o = !0, n?.({
				why: e.why,
				detail: e.detail
			}));
		}
	});
	return {
		holding: () => a,
		lost: () => o,
		async stop() {
			i.abort(), await u;
		}
	};
}
async function lo(e, t, n = {}) {
	let { now: r } = await e.read([], n), i = await ma(e, pe(t), n);
	if (i === null) return null;
	let { record: a } = i, o = a.state === "released" ? "released" : V(i) <= r ? "expired" : "held", { token: s, holder: c, expiresAt: l } = { ...ho(i) };
	return {
		lease: t,
		token: s,
		state: o,
		holder: c,
		claim: a.holder,
		since: new Date(a.since),
		expiresAt: l
	};
}
async function uo(e, t) {
	let n = await pa($a(e), {
		...t,
		lease: pe(t.lease)
	});
	return n.outcome === "unlocked" ? {
		outcome: "unlocked",
		token: n.token
	} : { outcome: n.outcome === "moved-on" ? "moved_on" : n.outcome };
}
async function fo(e, t, n) {
	let r = to.get(e);
	if (r === void 0) throw TypeError("publishCommit publishes to GitHub: give it a store that githubStore has made.");
	let { files: i, tree: a, message: o, author: s, attempts: c = 5, signal: l } = n;
	if (i === void 0 == (a === void 0)) throw TypeError("publishCommit takes either files or tree: give one of them.");
	if (o.trim() === "") throw TypeError("publishCommit needs a message for the commit.");
	if (!Number.isInteger(c) || c < 1 || c > 20) throw TypeError(`attempts is ${c}, and takes 1 to 20.`);
	let u = await Qn(r, {
		fences: [sr(t.lease, $(t), Ua)],
		branch: ye(n.branch, r.setup.place.prefix),
		message: o,
		change: i === void 0 ? { tree: a } : { files: i },
		base: n.base,
		author: s,
		onMoved: n.onMoved ?? (i === void 0 ? "fail" : "rebuild"),
		attempts: c,
		signal: l
	});
	switch (u.outcome) {
		case "pushed": {
			let { commit: e, written: n, rebuilt: r } = u;
			return {
				outcome: "pushed",
				commit: e,
				holding: eo(cr(n) ?? $(t)),
				rebuilt: r
			};
		}
		case "unchanged": return u;
		case "superseded": return {
			outcome: "superseded",
			why: u.why,
			commit: u.commit
		};
		default: return u;
	}
}
async function po(e, t, n, r, i = {}) {
	if (t === "") throw TypeError("accept needs the name of a resource.");
	let { token: a, claim: o } = n;
	if (!Number.isSafeInteger(a) || a < 1) throw TypeError(`The token ${a} is not an integer from 1.`);
	let s = await tn($a(e), t, {
		token: a,
		claim: Ge(o)
	}, r, i);
	return s.outcome === "accepted" ? s : {
		...s,
		holder: P(s.holder)
	};
}
function mo({ claim: e, holder: t }) {
	return Ge({
		...t ? { host: t.slice(0, 300) } : {},
		...e,
		id: e?.id ?? Ua.nonce()
	});
}
function ho(e) {
	let { token: t, holder: n } = e.record;
	return {
		token: t,
		holder: P(n),
		claim: n,
		expiresAt: new Date(V(e))
	};
}
function go(e, t, n) {
	return ot(e, typeof t == "number" ? `${t}ms` : t, n);
}
export { Ga as DurationInvalid, Wa as NameInvalid, Ka as RecordInvalid, Xa as StoreMisconfigured, Ya as StoreRefused, Ja as StoreUnavailable, qa as TokenRegressed, po as accept, io as acquire, no as githubStore, co as keep, ro as memoryStore, fo as publishCommit, oo as release, ao as renew, lo as status, uo as unlock };
