import Bitwarden
import HTTP
import JSON

/// The pages under `/_faults`: what goes wrong, ordered over HTTP.
///
/// - `POST /_faults` orders a fault and tells its number, `GET` lists them with how often each was
///   met, `DELETE` takes all of them back, `DELETE /_faults/{number}` one.
/// - `POST /_faults/remember` and `/_faults/rollback`: the world as it was, for answers that are out
///   of date and for a restored backup.
/// - `PUT /_faults/clock` with `{"offsetSeconds": -600, "digits": 3, "store": "exact|sqlServer|mariaDB|mySQL"}`.
/// - `PUT /_faults/features` with switches and their values; `null` takes one away.
/// - `PUT` and `DELETE /_faults/members/{organization}/{user}` lets a user in and puts one out.
/// - `PUT /_faults/hub` with `{"messages": "whole|split|merged", "hangUp": true}`.
/// - `PUT /_faults/seed` with `{"seed": 7}`: chance decides alike every time.
/// - `PUT /_faults/limits` with `{"on": true}`: the limits of how often a client may call; and
///   `PUT /_faults/traffic` with `{"perSecond": 500}`: of all clients together, `null` for none. `GET`
///   tells what was asked, `DELETE` counts anew.
/// - `GET /_faults/mail/{email}`: the code that was mailed there.
struct ControlRoutes: Sendable {
    let ledger: Ledger
    let hub: Hub?

    func add(to router: inout Router) {
        router.on(.post, "/_faults") { await order($0) }
        router.on(.get, "/_faults") { _ in await list() }
        router.on(.delete, "/_faults") { _ in
            await ledger.withdrawAll()
            return Response(.noContent)
        }
        router.on(.delete, "/_faults/{number}", Int.self) { _, number in
            await ledger.withdraw(number) ? Response(.noContent) : Response(.notFound)
        }
        router.on(.post, "/_faults/remember") { _ in
            await ledger.remember()
            return Response(.noContent)
        }
        router.on(.post, "/_faults/rollback") { _ in
            await ledger.rollBack()
            return Response(.noContent)
        }
        router.on(.put, "/_faults/clock") { await setClock($0) }
        router.on(.put, "/_faults/features") { await setFeatures($0) }
        router.on(.get, "/_faults/mail/{email}", String.self) { _, email in
            guard let code = await ledger.mailedCode(email) else { return Response(.notFound) }
            return Reply(json: .object { $0.add("code", code) }).response
        }
        router.on(.put, "/_faults/hub") { await setHub($0) }
        router.on(.put, "/_faults/seed") { request in
            await read(request) { json throws(JSON.Mismatch) in
                try json.read("seed", as: Int.self)
            } then: { seed in
                await ledger.setSeed(UInt64(bitPattern: Int64(seed)))
                return Response(.noContent)
            }
        }
        router.on(.put, "/_faults/limits") { request in
            await read(request) { json throws(JSON.Mismatch) in
                try json.read("on", as: Bool.self)
            } then: { isOn in
                await ledger.setLimits(isOn)
                return Response(.noContent)
            }
        }
        addTraffic(to: &router)
        addMembers(to: &router)
    }

    private func addTraffic(to router: inout Router) {
        router.on(.get, "/_faults/traffic") { _ in
            let traffic = await ledger.traffic
            return Reply(
                json: .object { answer in
                    answer.add("perSecond", traffic.limit)
                    answer.add("refused", traffic.refused)
                    answer.add("busiestSecond", traffic.busiestSecond)
                    answer.object("calls") { calls in
                        for (name, count) in traffic.calls.sorted(by: { $0.key < $1.key }) {
                            calls.add(name, count)
                        }
                    }
                }
            ).response
        }
        router.on(.put, "/_faults/traffic") { request in
            await read(request) { json throws(JSON.Mismatch) in
                let limit = try json.read("perSecond", as: Int?.self)
                guard limit.map({ $0 > 0 }) ?? true else {
                    throw JSON.Mismatch("must be at least 1", at: ["perSecond"])
                }
                return limit
            } then: { limit in
                await ledger.setTrafficLimit(limit)
                return Response(.noContent)
            }
        }
        router.on(.delete, "/_faults/traffic") { _ in
            await ledger.forgetTraffic()
            return Response(.noContent)
        }
    }

    private func setHub(_ request: Request) async -> Response {
        await read(request) { json throws(JSON.Mismatch) in
            let name = try json.read("messages", as: String?.self)
            let cutting = name.flatMap { HubSession.Cutting(rawValue: $0) }
            guard name == nil || cutting != nil else {
                throw JSON.Mismatch("must be whole, split or merged", at: ["messages"])
            }
            let hangsUp = try json.read("hangUp", as: Bool?.self) ?? false
            return (cutting: cutting, hangsUp: hangsUp)
        } then: { wish in
            if let cutting = wish.cutting { hub?.cut(cutting) }
            if wish.hangsUp { hub?.hangUp() }
            return Response(.noContent)
        }
    }

    private func addMembers(to router: inout Router) {
        router.on(.put, "/_faults/members/{organization}/{user}", String.self, String.self) {
            request,
            organization,
            user in
            await read(request) { json throws(JSON.Mismatch) in
                Organization.Member(
                    id: user,
                    key: try json.read("key"),
                    type: try json.read("type", as: Int?.self) ?? 2,
                    status: try json.read("status", as: Int?.self) ?? Membership.confirmed,
                    isReadOnly: try json.read("readOnly", as: Bool?.self) ?? false,
                    hidesPasswords: try json.read("hidePasswords", as: Bool?.self) ?? false
                )
            } then: { member in
                await ledger.setMember(member, user, in: organization)
                return Response(.noContent)
            }
        }
        router.on(.delete, "/_faults/members/{organization}/{user}", String.self, String.self) {
            _,
            organization,
            user in
            await ledger.setMember(nil, user, in: organization)
            return Response(.noContent)
        }
    }

    private func order(_ request: Request) async -> Response {
        await read(request) { json throws(JSON.Mismatch) in
            try Fault(json: json)
        } then: { fault in
            let number = await ledger.order(fault)
            return Reply(json: .object { $0.add("number", number) }).response
        }
    }

    private func list() async -> Response {
        let orders = await ledger.orders
        return Reply.list { list in
            for order in orders {
                list.object {
                    $0.add("number", order.number)
                    $0.add("operation", order.fault.operation?.rawValue)
                    $0.add("account", order.fault.account)
                    $0.add("effect", order.fault.effect.name)
                    $0.add("seen", order.seen)
                    $0.add("hits", order.hits)
                }
            }
        }.response
    }

    private func setClock(_ request: Request) async -> Response {
        await read(request) { json throws(JSON.Mismatch) in
            (
                offset: try json.number(orNil: "offsetSeconds", within: Self.offsets),
                digits: try json.number(orNil: "digits", within: 0...7),
                store: try StampStore(named: json.read("store", as: String?.self))
            )
        } then: { wish in
            if let offset = wish.offset { await ledger.shiftClock(seconds: Int64(offset)) }
            if let digits = wish.digits { await ledger.setStampDigits(digits) }
            if let store = wish.store { await ledger.keepStamps(in: store) }
            return Response(.noContent)
        }
    }

    /// Fifty years, either way.
    private static let offsets = -1_577_880_000...1_577_880_000

    private func setFeatures(_ request: Request) async -> Response {
        await read(request) { json throws(JSON.Mismatch) in
            guard let members = json.object else { throw JSON.Mismatch("must be an object") }
            return members.map { ($0.name.string, $0.value.raw.copy) }
        } then: { features in
            for (name, value) in features {
                await ledger.setFeature(name, value.isNull ? nil : value)
            }
            return Response(.noContent)
        }
    }

    private func read<Wish: Sendable>(
        _ request: Request,
        _ read: (JSON.Value) throws(JSON.Mismatch) -> Wish,
        then act: (Wish) async -> Response
    ) async -> Response {
        guard let body = try? await request.body(limit: 1_048_576) else { return .cut }
        do {
            return await act(try read(try JSON.Document(body).root))
        } catch let mismatch as JSON.Mismatch {
            return .text(mismatch.description, status: .badRequest)
        } catch {
            return .text("\(error)", status: .badRequest)
        }
    }
}

extension Fault.Effect {
    /// What it is called in the list, without what it is made of.
    fileprivate var name: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
}

extension StampStore {
    /// - Parameter name: Nil if none is wished for.
    fileprivate init?(named name: String?) throws(JSON.Mismatch) {
        guard let name else { return nil }
        guard let store = StampStore(rawValue: name) else {
            throw JSON.Mismatch("must be \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = store
    }
}
